/** The live feed as deployed: one durable object that reads the log for all viewers. */
import { createParser } from 'eventsource-parser';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { LogChanges } from '../../shared/queue/log-event.ts';
import { createDeployment, type DeployedWorker, type Deployment } from '../support/deployment.ts';

const JOB = { queue: 'watched', type: 't', payload: 1 };
const QUIET = { INSERT_POKES: 'off', CHAIN_POKES: 'off' };

let deployment: Deployment;
let worker: DeployedWorker;
beforeEach(async () => {
  deployment = await createDeployment();
  worker = await deployment.start(QUIET);
});
afterEach(() => deployment.close());

/** A browser that follows. */
interface Viewer {
  /** Ids of jobs whose creation it has seen, in the order in which they came. */
  readonly created: readonly string[];
  readonly lastEventId: () => string | undefined;
  seen(jobId: string): Promise<void>;
  started(): Promise<void>;
  leave(): void;
}

async function watch(lastEventId?: string): Promise<Viewer> {
  const leaving = new AbortController();
  const response = await fetch(`${worker.url}/v1/events/stream`, {
    headers: {
      authorization: `Bearer ${await deployment.token({ subject: 'viewer', scopes: ['read'] })}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
    signal: leaving.signal,
  });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const created: string[] = [];
  let last = lastEventId;
  const waiting = new Set<() => void>();
  const parser = createParser({
    onEvent: ({ event, data, id }) => {
      last = id ?? last;
      if (event === 'change') {
        const { events } = JSON.parse(data) as LogChanges;
        for (const { type, job_id: jobId } of events) {
          if (type === 'created' && jobId !== null && !created.includes(jobId)) created.push(jobId);
        }
      }
      for (const wake of waiting) wake();
    },
  });
  void (async () => {
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) parser.feed(decoder.decode(piece as Uint8Array));
  })().catch(() => undefined);
  const until = async (isThere: () => boolean): Promise<void> => {
    while (!isThere()) {
      await new Promise<void>((resolve) => {
        waiting.add(resolve);
      });
    }
  };
  return {
    created,
    lastEventId: () => last,
    seen: async (jobId) => await until(() => created.includes(jobId)),
    started: async () => await until(() => last !== undefined),
    leave: () => leaving.abort(),
  };
}

describe('the live feed of a deployment', () => {
  test('S2.7 200 viewers cost the database the reads of one', async () => {
    const readsWith = async (viewers: readonly Viewer[]): Promise<number> => {
      const before = deployment.endpoint.requests;
      for (let round = 0; round < 5; round += 1) {
        const id = await worker.enqueue(JOB);
        await Promise.all(viewers.map((viewer) => viewer.seen(id)));
      }
      return deployment.endpoint.requests - before;
    };
    const one = await watch();
    await one.started();
    await readsWith([one]); // and the schema is known
    const alone = await readsWith([one]);
    const before = deployment.endpoint.requests;
    const many = await Promise.all(Array.from({ length: 199 }, async () => await watch()));
    await Promise.all(many.map((viewer) => viewer.started()));
    // An overview that was due may come meanwhile.
    expect(deployment.endpoint.requests - before).toBeLessThanOrEqual(1);
    const together = await readsWith([one, ...many]);
    // Overviews go by time, and with all the others it takes a little longer.
    expect(together).toBeLessThanOrEqual(alone + 3);
    for (const viewer of [one, ...many]) viewer.leave();
  }, 60_000);

  test('S2.7 a viewer that comes back with Last-Event-ID gets what it has missed, and nothing twice', async () => {
    const one = await watch();
    await one.started();
    const first = await worker.enqueue(JOB);
    await one.seen(first);
    one.leave();
    const missed = [await worker.enqueue(JOB), await worker.enqueue(JOB)];
    const again = await watch(one.lastEventId());
    const live = await worker.enqueue(JOB);
    await again.seen(live);
    expect(again.created).toEqual([...missed, live]);
    again.leave();
  });

  test('a viewer that went away leaves nobody who reads', async () => {
    const one = await watch();
    await one.started();
    await one.seen(await worker.enqueue(JOB));
    one.leave();
    // The platform tells the object at some time that its reader is gone.
    await expect
      .poll(
        async () => {
          const before = deployment.endpoint.requests;
          // While somebody watches, looks come in between.
          for (let i = 0; i < 10; i += 1) await worker.enqueue(JOB);
          return deployment.endpoint.requests - before;
        },
        { timeout: 20_000 },
      )
      .toBe(10);
  }, 30_000);
});
