import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { createScriptedWork } from './support/scripted-work.ts';
import type { ScriptedWork } from './support/scripted-work.ts';

let scripted: ScriptedWork;
beforeAll(async () => {
  scripted = await createScriptedWork();
});
afterAll(() => scripted.app.close());
beforeEach(() => scripted.reset());

describe('S1.10 attempts are counted when claimed', () => {
  test('a handler sees the count, and a failure leaves it', async () => {
    const seen: number[] = [];
    scripted.behaviours.set('fails', ({ attempt }) => {
      seen.push(attempt);
      throw new Error('boom');
    });
    const id = await scripted.enqueue('fails', { max_attempts: 2 });
    expect((await scripted.work()).body).toMatchObject({
      outcome: 'retrying',
      code: 'handler_error',
    });
    expect(await scripted.job(id)).toMatchObject({ state: 'pending', attempt: 1 });
    await scripted.app.database.pool.query(
      'update leasehold.job_state set due_at = clock_timestamp()',
    );
    expect((await scripted.work()).body).toMatchObject({
      outcome: 'dead',
      code: 'handler_error',
      attempt: 2,
    });
    expect(await scripted.job(id)).toMatchObject({
      state: 'dead',
      dead: { reason: 'attempts_used_up', error: { message: 'boom' } },
    });
    expect(seen).toEqual([1, 2]);
  });
});

test('an invalid payload is dead at once, with the faults as the reason', async () => {
  const id = await scripted.enqueue(5);
  expect((await scripted.work()).body).toMatchObject({ outcome: 'dead', code: 'invalid_payload' });
  expect(await scripted.job(id)).toMatchObject({
    state: 'dead',
    attempt: 1,
    dead: { error: { code: 'invalid_payload', problems: [{ path: 'behaviour' }] } },
  });
});

test('an unknown type is dead at once', async () => {
  const id = await scripted.enqueue('fine', { type: 'other' });
  expect((await scripted.work()).body).toMatchObject({ outcome: 'dead', code: 'unknown_type' });
  expect(await scripted.job(id)).toMatchObject({
    state: 'dead',
    dead: { reason: 'permanent_failure' },
  });
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
    scripted.behaviours.set('throws', () => Promise.reject(thrown as Error));
    const id = await scripted.enqueue('throws');
    expect((await scripted.work()).body).toMatchObject({ outcome: 'retrying' });
    const stored = await scripted.job(id);
    expect(stored).toMatchObject({ state: 'pending', waiting_for: 'time', lease: null });
    const [attempt] = stored['attempts'] as { error: { message: string } }[];
    expect(attempt?.error.message).not.toBe('');
  });
});

test('case B3 an error with a circular cause and 5,000 members is stored in bounds', async () => {
  scripted.behaviours.set('throws', () => {
    const many = new AggregateError(
      Array.from({ length: 5000 }, (_, at) => new Error(`member ${at}`)),
      'the original message',
    );
    many.cause = many;
    throw many;
  });
  const id = await scripted.enqueue('throws');
  await scripted.work();
  const [attempt] = (await scripted.job(id))['attempts'] as { error: { message: string } }[];
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
    scripted.behaviours.set('answers', ({ progress }) => {
      runs += 1;
      progress('a\u0000b');
      return result;
    });
    const id = await scripted.enqueue('answers');
    expect((await scripted.work()).body).toMatchObject({
      outcome: 'succeeded',
      result_problem: expect.any(String) as string,
    });
    expect((await scripted.work()).body).toMatchObject({ outcome: 'empty' });
    expect(runs).toBe(1);
    expect(await scripted.job(id)).toMatchObject({
      state: 'succeeded',
      result: null,
      result_problem: expect.any(String) as string,
    });
  });
});

describe('case C5 a lease that is taken away', () => {
  test('S2.3 stops the handler at its next heartbeat, and its report changes nothing', async () => {
    let aborted = false;
    scripted.behaviours.set('waits', async ({ signal }) => {
      const stopped = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          resolve();
        });
      });
      // Someone else gets the job: as after a pause of this worker.
      await scripted.app.database.pool.query(
        "update leasehold.job_state set fencing_token = fencing_token + 1, owner = 'other'",
      );
      await stopped;
      return 'finished anyway';
    });
    const id = await scripted.enqueue('waits');
    expect((await scripted.work()).body).toMatchObject({ outcome: 'lease_lost' });
    expect(aborted).toBe(true);
    expect(await scripted.job(id)).toMatchObject({ state: 'running', lease: { owner: 'other' } });
  });
});

test('case C3 a handler that burns CPU past its lease is told so, and the worker goes on', async () => {
  scripted.behaviours.set('burns', async () => {
    // The lease passes while this side could say nothing.
    await scripted.app.database.pool.query(
      "update leasehold.job_state set due_at = clock_timestamp() - interval '1 second'",
    );
    scripted.behaviours.set('burns', () => 'second');
    expect((await scripted.work()).body).toMatchObject({ outcome: 'succeeded', attempt: 2 });
    return 'first';
  });
  const id = await scripted.enqueue('burns');
  expect((await scripted.work()).body).toMatchObject({ outcome: 'lease_lost', attempt: 1 });
  expect(await scripted.job(id)).toMatchObject({ state: 'succeeded', result: 'second' });
});
