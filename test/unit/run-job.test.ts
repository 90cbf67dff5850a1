import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import { LeaseholdError } from '../../shared/errors.ts';
import type { HandlerContext } from '../../shared/handler.ts';
import { PermanentError } from '../../shared/handler-errors.ts';
import { JOB_ID, deferred, scriptedRun } from './support/scripted-run.ts';

const unavailable = (): LeaseholdError =>
  new LeaseholdError('database_unavailable', 'The database did not answer.');

describe('an attempt', () => {
  test('gives the handler what it needs to be safe', async () => {
    const run = scriptedRun();
    let seen: HandlerContext | undefined;
    const outcome = await run.start((context) => {
      seen = context;
      context.log.info('hello', { job_id: 'forged', rows: 3 });
      return { done: true };
    });
    expect(outcome).toEqual({ outcome: 'succeeded', moreDue: false });
    expect(seen).toMatchObject({ idempotencyKey: JOB_ID, fencingToken: '7', attempt: 2 });
    expect(run.calls.complete).toEqual([
      { jobId: JOB_ID, owner: 'worker-1', fencingToken: '7', result: { done: true } },
    ]);
    expect(run.log.lines[0]).toEqual({
      level: 'info',
      event: 'hello',
      fields: { rows: 3, job_id: JOB_ID, queue: 'q', type: 't', attempt: 2 },
    });
    expect(run.time.sleeping).toBe(0);
  });

  test('with an invalid payload is final and says why', async () => {
    const run = scriptedRun();
    let started = false;
    const outcome = await run.start(
      () => {
        started = true;
      },
      { schema: z.strictObject({ to: z.email() }) },
    );
    expect(started).toBe(false);
    expect(outcome).toMatchObject({ outcome: 'retrying' });
    expect(run.calls.fail).toMatchObject([
      {
        failureClass: 'permanent',
        error: {
          code: 'invalid_payload',
          problems: [
            { path: 'to', message: expect.any(String) as string },
            { path: 'secret', message: 'is not a known field' },
          ],
        },
      },
    ]);
  });

  test('of an unknown type is final', async () => {
    const run = scriptedRun();
    await run.start(() => undefined, { job: { type: 'other' } });
    expect(run.calls.fail).toMatchObject([
      { failureClass: 'permanent', error: { code: 'unknown_type' } },
    ]);
  });

  test('whose schema throws is a failed attempt like any other', async () => {
    const run = scriptedRun();
    const schema = z.unknown().refine(() => {
      throw new Error('bad schema');
    });
    await run.start(() => undefined, { schema });
    expect(run.calls.fail).toMatchObject([
      { failureClass: 'unknown', error: { message: 'bad schema' } },
    ]);
  });

  test('may rule out a retry', async () => {
    const run = scriptedRun();
    run.script.fail = async () => ({ outcome: 'dead', moreDue: true });
    const outcome = await run.start(() => {
      throw new PermanentError('card_declined', 'no');
    });
    expect(outcome).toEqual({ outcome: 'dead', code: 'card_declined', moreDue: true });
    expect(run.calls.fail).toMatchObject([
      { failureClass: 'permanent', error: { code: 'card_declined' } },
    ]);
  });
});

describe('case B1 anything thrown ends in a failed attempt and a free lease', () => {
  test.each([
    ['null', null],
    ['undefined', undefined],
    ['text', 'text'],
    ['0', 0],
    ['{}', {}],
    ['a symbol', Symbol('x')],
    ['an empty error', new Error('')],
  ])('%s', async (_name, thrown) => {
    for (const asPromise of [true, false]) {
      const run = scriptedRun();
      const outcome = await run.start(() => {
        if (asPromise) return Promise.reject(thrown as Error);
        throw thrown as Error;
      });
      expect(outcome).toMatchObject({ outcome: 'retrying', code: 'handler_error' });
      expect(run.calls.fail).toHaveLength(1);
      expect(run.calls.fail[0]?.error.message).not.toBe('');
    }
  });
});

test('case B3 the log names the right job and queue, and holds no payload and no error text', async () => {
  const run = scriptedRun();
  const error = new Error('secret-error-text');
  error.cause = error;
  await run.start(() => {
    throw error;
  });
  expect(run.calls.fail[0]?.error.message).toBe('secret-error-text');
  expect(run.log.lines).toEqual([
    {
      level: 'warn',
      event: 'job_failed',
      fields: {
        code: 'handler_error',
        class: 'unknown',
        job_id: JOB_ID,
        queue: 'q',
        type: 't',
        attempt: 2,
      },
    },
  ]);
  expect(run.log.text).not.toContain('secret-error-text');
});

test('S1.18 neither payload nor error text reaches the log, whatever goes wrong', async () => {
  const run = scriptedRun();
  run.script.fail = async () => {
    throw unavailable();
  };
  const ended = run.start(() => {
    throw new Error('secret-error-text');
  });
  await run.time.advance(60_000);
  expect(await ended).toEqual({ outcome: 'unknown' });
  expect(run.log.text).not.toMatch(/secret-error-text|payload-text/);
});

describe('case B5 a success whose result cannot be kept is a success, once', () => {
  test('a NUL in the result', async () => {
    const run = scriptedRun();
    let runs = 0;
    const outcome = await run.start(() => {
      runs += 1;
      return { text: 'a\u0000b' };
    });
    expect(outcome).toMatchObject({
      outcome: 'succeeded',
      resultProblem: expect.any(String) as string,
    });
    expect(runs).toBe(1);
    expect(run.calls.complete).toMatchObject([{ resultProblem: expect.any(String) as string }]);
    expect(run.calls.complete[0]).not.toHaveProperty('result');
  });

  test('a result that only the database refuses', async () => {
    const run = scriptedRun();
    run.script.complete = async ({ result }) => {
      if (result !== undefined) throw new LeaseholdError('database_error', 'no');
      return { outcome: 'succeeded', moreDue: false };
    };
    expect(await run.start(() => 'fine')).toMatchObject({ outcome: 'succeeded' });
    expect(run.calls.complete).toHaveLength(2);
    expect(run.calls.complete[1]).toMatchObject({
      resultProblem: 'The database refused the result.',
    });
  });

  test('a NUL in a progress marker is dropped', async () => {
    const run = scriptedRun();
    const end = deferred();
    const ended = run.start(async ({ progress }) => {
      progress(`half\u0000way${'x'.repeat(1000)}`);
      await end.promise;
    });
    await run.time.advance(10_000);
    end.resolve();
    await ended;
    expect(run.calls.heartbeat[0]?.progress).toMatch(/^halfwayx+…$/);
    expect(run.calls.heartbeat[0]?.progress?.length).toBeLessThanOrEqual(200);
  });
});
