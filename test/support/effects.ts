import { createServer, type ServerResponse } from 'node:http';

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
  const server = createServer((request, response) => {
    request.resume();
    keys.push(String(request.headers['idempotency-key']));
    for (const wake of waiting) wake();
    waiting = [];
    if (holding) held.push(response);
    else response.end('done');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('no TCP address');
  return {
    url: `http://127.0.0.1:${address.port}/`,
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
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
