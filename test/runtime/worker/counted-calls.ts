/**
 * The deployed Worker behind the rule of its platform: a call of a Worker to itself more than sixteen deep is refused. Depth
 * travels with the calls, as it does there, whatever the Worker says of it; an alarm starts at the top. It also tells how
 * many pokes ran at one time.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

import worker from '../../../functions/worker.ts';
import type { WorkerEnv } from '../../../functions/worker-deps.ts';

export { EventFeed, WakeClock } from '../../../functions/worker.ts';

const MAX_SELF_CALLS_DEEP = 16;
const DEPTH = 'x-self-calls';

const depths = new AsyncLocalStorage<number>();
const calls = { running: 0, most: 0, deepest: 0, refused: 0, pokes: 0 };
let counted: WorkerEnv | undefined;

export default {
  async fetch(request, env, execution): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/self-calls') return Response.json(calls);
    const depth = Number(request.headers.get(DEPTH) ?? '0');
    calls.deepest = Math.max(calls.deepest, depth);
    if (depth > MAX_SELF_CALLS_DEEP) {
      calls.refused += 1;
      return new Response('error code: 1019', { status: 530 });
    }
    counted ??= withCounting(env);
    const run = async (): Promise<Response> =>
      await worker.fetch(request, counted ?? env, execution);
    return await depths.run(depth, pathname === '/v1/work' ? () => counting(run) : run);
  },

  async scheduled(controller, env, execution): Promise<void> {
    await worker.scheduled(controller, env, execution);
  },
} satisfies ExportedHandler<WorkerEnv>;

async function counting(run: () => Promise<Response>): Promise<Response> {
  calls.pokes += 1;
  calls.running += 1;
  calls.most = Math.max(calls.most, calls.running);
  try {
    return await run();
  } finally {
    calls.running -= 1;
  }
}

function withCounting(env: WorkerEnv): WorkerEnv {
  const { SELF: self } = env;
  if (self === undefined) return env;
  const fetchDeeper = async (request: Request): Promise<Response> => {
    const headers = new Headers(request.headers);
    headers.set(DEPTH, String((depths.getStore() ?? 0) + 1));
    return await self.fetch(new Request(request, { headers }));
  };
  return { ...env, SELF: { ...self, fetch: fetchDeeper } as Fetcher };
}
