import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { webIds } from '../../functions/web-ports.ts';
import { defineHandler } from '../../shared/handler.ts';
import type { HandlerContext } from '../../shared/handler.ts';
import { MAX_POKE_DEPTH } from '../../shared/limits.ts';
import { parseConfig } from '../../shared/config.ts';
import { createAppHarness } from './support/app-harness.ts';
import type { Answer, AppHarness } from './support/app-harness.ts';

/** What the handler of a test does; its payload names the entry. */
const behaviours = new Map<string, (context: HandlerContext) => unknown>();

const scripted = defineHandler({
  queue: 'scripted',
  type: 'run',
  schema: z.strictObject({ behaviour: z.string() }),
  leaseSeconds: 3,
  run: (job, context) => behaviours.get(job.payload.behaviour)?.(context),
});

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness({ handlers: [scripted] });
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.backgroundDone();
  await app.database.pool.query('delete from leasehold.job_state');
  app.pokes.length = 0;
  behaviours.clear();
});

async function enqueue(behaviour: unknown, fields: Record<string, unknown> = {}): Promise<string> {
  const { body } = await app.call('POST', '/v1/jobs', {
    body: {
      id: webIds.uuidv7(),
      queue: 'scripted',
      type: 'run',
      payload: { behaviour },
      ...fields,
    },
  });
  return String(body['id']);
}

function work(depth = 0): Promise<Answer> {
  return app.call('POST', '/v1/work', { body: { queue: 'scripted', depth } });
}

async function job(id: string): Promise<Readonly<Record<string, unknown>>> {
  return (await app.call('GET', `/v1/jobs/${id}`)).body;
}

describe('C.2 a poke claims one job and runs it', () => {
  test('and the job is done, with its result', async () => {
    behaviours.set('fine', ({ progress }) => {
      progress('1 of 1');
      return { rows: 3 };
    });
    const id = await enqueue('fine');
    const left = await enqueue('fine');
    const { status, body } = await work();
    expect(status).toBe(200);
    expect(body).toMatchObject({ outcome: 'succeeded', job_id: id, attempt: 1, more_due: true });
    expect(await job(id)).toMatchObject({
      state: 'succeeded',
      result: { rows: 3 },
      finished_by: 'route-tests',
    });
    expect(await job(left)).toMatchObject({ state: 'pending', attempt: 0 });
  });

  test('an empty queue is an ordinary answer', async () => {
    expect(await work()).toMatchObject({
      status: 200,
      body: { outcome: 'empty', queue: 'scripted' },
    });
  });

  test('nothing is claimed from a queue that this deployment does not serve', async () => {
    const id = await enqueue('fine', { queue: 'elsewhere' });
    const before = app.http.endpoint.requests;
    const { body } = await app.call('POST', '/v1/work', { body: { queue: 'elsewhere', depth: 0 } });
    expect(body).toEqual({ outcome: 'no_handler', queue: 'elsewhere' });
    expect(app.http.endpoint.requests).toBe(before);
    expect(await job(id)).toMatchObject({ state: 'pending', attempt: 0 });
  });

  test('the lease is not longer than what is left of the invocation', async () => {
    let remaining = 0;
    behaviours.set('look', async () => {
      const { rows } = await app.database.pool.query<{ seconds: number }>(
        `select extract(epoch from due_at - clock_timestamp())::float8 as seconds
         from leasehold.job_state where lane = 0`,
      );
      remaining = rows[0]?.seconds ?? Number.NaN;
    });
    await enqueue('look');
    const request = await app.request('POST', '/v1/work', {
      body: { queue: 'scripted', depth: 0 },
    });
    await app.callApp({ deps: app.deps({ invocationMs: 2_500 }) }, request);
    expect(remaining).toBeGreaterThan(0);
    expect(remaining).toBeLessThanOrEqual(2);
  });
});

describe('S1.10 attempts are counted when claimed', () => {
  test('a handler sees the count, and a failure leaves it', async () => {
    const seen: number[] = [];
    behaviours.set('fails', ({ attempt }) => {
      seen.push(attempt);
      throw new Error('boom');
    });
    const id = await enqueue('fails', { max_attempts: 2 });
    expect((await work()).body).toMatchObject({ outcome: 'retrying', code: 'handler_error' });
    expect(await job(id)).toMatchObject({ state: 'pending', attempt: 1 });
    await app.database.pool.query('update leasehold.job_state set due_at = clock_timestamp()');
    expect((await work()).body).toMatchObject({
      outcome: 'dead',
      code: 'handler_error',
      attempt: 2,
    });
    expect(await job(id)).toMatchObject({
      state: 'dead',
      dead: { reason: 'attempts_used_up', error: { message: 'boom' } },
    });
    expect(seen).toEqual([1, 2]);
  });
});

test('an invalid payload is dead at once, with the faults as the reason', async () => {
  const id = await enqueue(5);
  expect((await work()).body).toMatchObject({ outcome: 'dead', code: 'invalid_payload' });
  expect(await job(id)).toMatchObject({
    state: 'dead',
    attempt: 1,
    dead: { error: { code: 'invalid_payload', problems: [{ path: 'behaviour' }] } },
  });
});

test('an unknown type is dead at once', async () => {
  const id = await enqueue('fine', { type: 'other' });
  expect((await work()).body).toMatchObject({ outcome: 'dead', code: 'unknown_type' });
  expect(await job(id)).toMatchObject({ state: 'dead', dead: { reason: 'permanent_failure' } });
});

describe('case B1 whatever a handler throws is stored, and the lease is free', () => {
  test.each([
    ['null', null],
    ['undefined', undefined],
    ['text', 'text'],
    ['0', 0],
    ['a symbol', Symbol('x')],
    ['an empty error', new Error('')],
    ['a NUL', new Error('a\u0000b\ud800')],
  ])('%s', async (_name, thrown) => {
    behaviours.set('throws', () => Promise.reject(thrown as Error));
    const id = await enqueue('throws');
    expect((await work()).body).toMatchObject({ outcome: 'retrying' });
    const stored = await job(id);
    expect(stored).toMatchObject({ state: 'pending', waiting_for: 'time', lease: null });
    const [attempt] = stored['attempts'] as { error: { message: string } }[];
    expect(attempt?.error.message).not.toBe('');
  });
});

test('case B3 an error with a circular cause and 5,000 members is stored in bounds', async () => {
  behaviours.set('throws', () => {
    const many = new AggregateError(
      Array.from({ length: 5000 }, (_, at) => new Error(`member ${at}`)),
      'the original message',
    );
    many.cause = many;
    throw many;
  });
  const id = await enqueue('throws');
  await work();
  const [attempt] = (await job(id))['attempts'] as { error: { message: string } }[];
  expect(attempt?.error).toMatchObject({ message: 'the original message', error_count: 5000 });
  expect(JSON.stringify(attempt).length).toBeLessThan(10_000);
});

describe('case B5 a success whose result cannot be kept is a success, once', () => {
  test.each([
    ['a NUL', 'a\u0000b'],
    ['half a surrogate pair', { a: '\ud800' }],
    ['a BigInt', 10n],
    ['too much', 'x'.repeat(300_000)],
  ])('%s', async (_name, result) => {
    let runs = 0;
    behaviours.set('answers', ({ progress }) => {
      runs += 1;
      progress('a\u0000b');
      return result;
    });
    const id = await enqueue('answers');
    expect((await work()).body).toMatchObject({
      outcome: 'succeeded',
      result_problem: expect.any(String) as string,
    });
    expect((await work()).body).toMatchObject({ outcome: 'empty' });
    expect(runs).toBe(1);
    expect(await job(id)).toMatchObject({
      state: 'succeeded',
      result: null,
      result_problem: expect.any(String) as string,
    });
  });
});

describe('case C5 a lease that is taken away', () => {
  test('S2.3 stops the handler at its next heartbeat, and its report changes nothing', async () => {
    let aborted = false;
    behaviours.set('waits', async ({ signal }) => {
      const stopped = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          resolve();
        });
      });
      // Someone else gets the job: as after a pause of this worker.
      await app.database.pool.query(
        "update leasehold.job_state set fencing_token = fencing_token + 1, owner = 'other'",
      );
      await stopped;
      return 'finished anyway';
    });
    const id = await enqueue('waits');
    expect((await work()).body).toMatchObject({ outcome: 'lease_lost' });
    expect(aborted).toBe(true);
    expect(await job(id)).toMatchObject({ state: 'running', lease: { owner: 'other' } });
  });
});

test('case C3 a handler that burns CPU past its lease is told so, and the worker goes on', async () => {
  behaviours.set('burns', async () => {
    // The lease passes while this side could say nothing.
    await app.database.pool.query(
      "update leasehold.job_state set due_at = clock_timestamp() - interval '1 second'",
    );
    behaviours.set('burns', () => 'second');
    expect((await work()).body).toMatchObject({ outcome: 'succeeded', attempt: 2 });
    return 'first';
  });
  const id = await enqueue('burns');
  expect((await work()).body).toMatchObject({ outcome: 'lease_lost', attempt: 1 });
  expect(await job(id)).toMatchObject({ state: 'succeeded', result: 'second' });
});

describe('S1.16 pokes are hints', () => {
  test('one a queue after the commit, for what this deployment serves and what is due', async () => {
    await enqueue('fine');
    await enqueue('fine', { queue: 'elsewhere' });
    await enqueue('fine', { delay_seconds: 60 });
    const one = { queue: 'scripted', type: 'run', payload: { behaviour: 'fine' } };
    await app.call('POST', '/v1/jobs/batch', {
      body: { jobs: [one, one, { ...one, queue: 'elsewhere' }, one] },
    });
    await app.backgroundDone();
    expect(app.pokes).toEqual([
      { queue: 'scripted', depth: 0 },
      { queue: 'scripted', depth: 0 },
    ]);
  });

  test('a worker that sees more due work pokes on, one deeper, and not for ever', async () => {
    behaviours.set('fine', () => undefined);
    for (let at = 0; at < 4; at += 1) await enqueue('fine');
    app.pokes.length = 0;
    await work(0);
    await work(MAX_POKE_DEPTH - 1);
    await work(MAX_POKE_DEPTH);
    await work(0); // the last job
    await app.backgroundDone();
    expect(app.pokes).toEqual([
      { queue: 'scripted', depth: 1 },
      { queue: 'scripted', depth: MAX_POKE_DEPTH },
    ]);
  });

  test('both can be switched off', async () => {
    behaviours.set('fine', () => undefined);
    const { config } = app.deps();
    const quiet = app.deps({
      config: parseConfig({
        DATABASE_URL: config.databaseUrl.reveal(),
        AUTH_SECRET: config.authSecret.reveal(),
        POKE_SECRETS: config.pokeSecrets.map((key) => key.reveal()).join(' '),
        INSERT_POKES: 'off',
        CHAIN_POKES: 'off',
      }),
    });
    const payload = { behaviour: 'fine' };
    for (let at = 0; at < 2; at += 1) {
      const body = { queue: 'scripted', type: 'run', payload };
      await app.callApp({ deps: quiet }, await app.request('POST', '/v1/jobs', { body }));
    }
    const body = { queue: 'scripted', depth: 0 };
    const answer = await app.callApp(
      { deps: quiet },
      await app.request('POST', '/v1/work', { body }),
    );
    expect(answer.body).toMatchObject({ outcome: 'succeeded', more_due: true });
    await app.backgroundDone();
    expect(app.pokes).toEqual([]);
  });
});

test.each([
  [{}, 'queue'],
  [{ queue: 'q', depth: -1 }, 'depth'],
  [{ queue: 'q', depth: 1.5 }, 'depth'],
  [{ queue: '..', depth: 0 }, 'queue'],
  [{ queue: 'q', depth: 0, owner: 'me' }, 'owner'],
])('a poke that breaks a rule is 400: %j', async (body, path) => {
  const { status, body: problem } = await app.call('POST', '/v1/work', { body });
  expect(status).toBe(400);
  expect(problem['problems']).toMatchObject([{ path }]);
});

test('C.2 an answer lost on the claim wastes no attempt', async () => {
  behaviours.set('fine', ({ attempt }) => ({ attempt }));
  const id = await enqueue('fine');
  app.http.endpoint.faults.next({ kind: 'drop_after_commit' }, { match: /leasehold\.claim/ });
  app.http.endpoint.faults.next({ kind: 'drop_after_commit' }, { match: /leasehold\.complete/ });
  expect((await work()).body).toMatchObject({ outcome: 'succeeded', attempt: 1 });
  expect(await job(id)).toMatchObject({ state: 'succeeded', result: { attempt: 1 } });
});
