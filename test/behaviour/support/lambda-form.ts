import { call, createLambdaStack } from '../../lambda/support/stack.ts';
import type { StartForm } from './form.ts';

/** The bundle that SAM would deploy, through the events of a function URL and of the scheduler. */
export const startLambdaForm: StartForm = async (variables) => {
  const stack = await createLambdaStack({ env: variables });
  return {
    fetch: (path, init = {}) => call(stack.api, { method: 'GET', ...init, path }),
    drain: async () => {
      await stack.drain();
      await stack.cloud.settled();
    },
    close: () => stack.close(),
  };
};
