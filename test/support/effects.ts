import type { ServerResponse } from 'node:http';
import { startLoopbackServer } from './loopback-server.ts';

/** A service of somebody else's, which handlers call: it counts what was done to it and can hold its answers. */
export interface Effects {
  readonly url: string;
  /** Idempotency keys in the order of the calls: one for each effect. */
  readonly keys: readonly string[];
  /** Resolves at the next call. */
  nextCall(): Promise<void>;
  /** From now on, calls are counted but not answered. */
  holdAnswers(): void;
  /** Answers from now on, the calls that are held as well. */
  answerAgain(): void;
  close(): Promise<void>;
}

export async function startEffects(): Promise<Effects> {
  const keys: string[] = [];
  let waiting: (() => void)[] = [];
  let holding = false;
  let held: ServerResponse[] = [];
  const server = await startLoopbackServer();
  server.serve((request, response) => {
    request.resume();
    keys.push(String(request.headers['idempotency-key']));
    for (const wake of waiting) wake();
    waiting = [];
    if (holding) held.push(response);
    else response.end('done');
  });
  return {
    url: server.url('/'),
    keys,
    nextCall: () => new Promise((resolve) => waiting.push(resolve)),
    holdAnswers: () => {
      holding = true;
    },
    answerAgain: () => {
      holding = false;
      for (const response of held) response.end('done');
      held = [];
    },
    close: () => server.close(),
  };
}
