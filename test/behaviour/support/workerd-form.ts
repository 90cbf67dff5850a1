import { createDeployment } from '../../support/deployment.ts';
import type { StartForm } from './form.ts';

/** The Worker that wrangler would deploy, in workerd. */
export const startWorkerdForm: StartForm = async (variables) => {
  const deployment = await createDeployment();
  const worker = await deployment.start(variables);
  return {
    fetch: (path, init) => fetch(`${worker.url}${path}`, init),
    drain: () => worker.runCron(),
    close: () => deployment.close(),
  };
};
