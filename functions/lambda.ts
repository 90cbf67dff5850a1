import { LeaseholdError } from '../shared/errors.ts';
import { createContainer } from './lambda/container.ts';
import { readEvent } from './lambda/event-shape.ts';
import type { LambdaEvent } from './lambda/event-shape.ts';
import { answerHttp, streamHttp } from './lambda/http.ts';
import type { StreamHandler } from './lambda/http.ts';
import { beginInvocation, runDrain, runPoke } from './lambda/invocation.ts';
import type { LambdaContext } from './lambda/invocation.ts';

/**
 * The Lambda entry. Both functions of the stack run it: the one behind the URL and the one that works. What an event is
 * decides its shape, before anything could take it for a request.
 *
 * **Nothing runs after an answer.** Lambda freezes the process with it, so pokes and wake-ups are sent before
 * (`BackgroundTasks`). Pokes are asynchronous invocations of the worker function: Lambda answers them at once, keeps them
 * and tries them again, and the worker has its 15 minutes whatever the caller does.
 */
const CONTAINER = createContainer();

/**
 * For API Gateway, for a function URL that buffers, and for every event that is no request.
 *
 * @throws for an event that is not served, a drain or a poke that failed: Lambda tries it again, then keeps it
 */
export async function handler(event: unknown, context: LambdaContext): Promise<unknown> {
  const read = readEvent(event);
  if (read.kind === 'http') return await answerHttp(CONTAINER, read.event, context);
  await runEvent(read, context);
  return null;
}

/** For a function URL that streams (`RESPONSE_STREAM`); undefined outside Lambda's runtime. */
export const stream = lambdaRuntime()?.streamifyResponse?.(
  async (event, responseStream, context) => {
    const read = readEvent(event);
    if (read.kind === 'http') {
      await streamHttp(CONTAINER, read.event, responseStream, context);
      return;
    }
    await runEvent(read, context);
    responseStream.end();
  },
);

async function runEvent(
  event: Exclude<LambdaEvent, { kind: 'http' }>,
  context: LambdaContext,
): Promise<void> {
  try {
    if (event.kind === 'unknown') throw new TypeError('The event has a shape that is not served.');
    const invocation = await beginInvocation(CONTAINER, context);
    if (event.kind === 'drain') await runDrain(invocation);
    else await runPoke(invocation, event.poke);
  } catch (error) {
    logFailure(event.kind, error);
    throw error;
  }
}

function logFailure(kind: LambdaEvent['kind'], error: unknown): void {
  const { log } = CONTAINER;
  if (error instanceof LeaseholdError) {
    for (const { path, message } of error.problems) {
      log.error('config_invalid', { setting: path, rule: message });
    }
  }
  const code = error instanceof LeaseholdError ? error.code : 'internal_error';
  log.error('invocation_failed', { kind, code });
}

/** The SDK makes the global too, with other things in it. */
interface LambdaRuntime {
  readonly streamifyResponse?: (
    handler: (
      event: unknown,
      responseStream: { end(): void },
      context: LambdaContext,
    ) => Promise<void>,
  ) => StreamHandler;
}

function lambdaRuntime(): LambdaRuntime | undefined {
  return (globalThis as { readonly awslambda?: LambdaRuntime }).awslambda;
}
