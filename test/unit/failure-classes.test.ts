import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import { LeaseholdError } from '../../shared/errors.ts';
import { PermanentError, RetryAfter, Snooze, TransientError } from '../../shared/handler-errors.ts';
import { handlerRegistry } from '../../shared/handler-registry.ts';
import { defineHandler } from '../../shared/handler.ts';
import { thrownEnding } from '../../shared/thrown-ending.ts';
import { JOB_ID, deferred, scriptedRun } from './support/scripted-run.ts';

const NOW = Date.UTC(2030, 0, 1);

describe('S1.8 a failure has a class before it is retried', () => {
  test.each([
    ['an error that nobody classed', new Error('x'), 'unknown', 'handler_error'],
    ['a time-out of the handler', AbortSignal.abort().reason, 'unknown', 'handler_error'],
    ['null', null, 'unknown', 'handler_error'],
    ['a PermanentError', new PermanentError('card_declined', 'no'), 'permanent', 'card_declined'],
    ['a TransientError', new TransientError('bank_away', 'later'), 'transient', 'bank_away'],
    ['a RetryAfter', new RetryAfter(5), 'transient', 'retry_after'],
    [
      'our own database being away',
      new LeaseholdError('database_unavailable', 'x'),
      'transient',
      'handler_error',
    ],
    [
      'another fault of our own',
      new LeaseholdError('internal_error', 'x'),
      'unknown',
      'handler_error',
    ],
  ])('%s', (_name, thrown: unknown, failureClass, code) => {
    expect(thrownEnding(thrown, NOW)).toMatchObject({
      kind: 'failed',
      failureClass,
      error: { code },
    });
  });

  test('the class goes into the report', async () => {
    const run = scriptedRun();
    await run.start(() => {
      throw new TransientError('bank_away', 'later');
    });
    expect(run.calls.fail).toMatchObject([
      { failureClass: 'transient', error: { code: 'bank_away', message: 'later' } },
    ]);
    expect(run.calls.fail[0]).not.toHaveProperty('retryAfterMs');
    expect(run.log.lines.at(-1)).toMatchObject({ fields: { class: 'transient' } });
  });

  test('a handler that ran out of time is transient', async () => {
    const run = scriptedRun();
    const ended = run.start(() => new Promise(() => undefined), { maxRunSeconds: 5 });
    await run.time.advance(6_000);
    await ended;
    expect(run.calls.fail).toMatchObject([
      { failureClass: 'transient', error: { code: 'run_deadline_exceeded' } },
    ]);
  });
});

describe('S1.8 a schema version that the handler does not take', () => {
  test('is permanent, and the handler is not called', async () => {
    const run = scriptedRun();
    let calls = 0;
    await run.start(() => void (calls += 1), { schemaVersions: [2, 3] });
    expect(calls).toBe(0);
    expect(run.calls.fail).toMatchObject([
      { failureClass: 'permanent', error: { code: 'unsupported_schema_version' } },
    ]);
  });

  test('one of those it takes runs', async () => {
    const run = scriptedRun();
    const outcome = await run.start(() => 'ran', {
      schemaVersions: [2, 3],
      job: { schemaVersion: 3 },
    });
    expect(outcome).toMatchObject({ outcome: 'succeeded' });
  });

  test.each([[[]], [[0]], [[1.5]], [[1_000_001]]])('%j is refused at start', (schemaVersions) => {
    const handler = defineHandler({
      queue: 'q',
      type: 't',
      schema: z.unknown(),
      schemaVersions,
      run: () => undefined,
    });
    expect(() => handlerRegistry([handler])).toThrow('schemaVersions');
  });
});

describe('case J3 what the other side asked for', () => {
  test.each([
    ['seconds', 90, 90_000],
    ['an instant', new Date(NOW + 1500), 1500],
    ['the past', new Date(NOW - 1), 0],
    ['less than nothing', -5, 0],
    ['a fraction', 0.0004, 1],
    ['more than any bound', 1e300, 30 * 86_400_000],
  ])('%s', (_name, after, retryAfterMs) => {
    expect(thrownEnding(new RetryAfter(after), NOW)).toMatchObject({ retryAfterMs });
  });

  test.each([[Number.NaN], [Infinity], [new Date(Number.NaN)]])('%s is a mistake', (after) => {
    expect(() => new RetryAfter(after)).toThrow(RangeError);
    expect(() => new Snooze(after, 'x')).toThrow(RangeError);
  });
});

describe('snooze', () => {
  test('gives the job back, and no failure is reported', async () => {
    const run = scriptedRun();
    const outcome = await run.start(() => {
      throw new Snooze(3600, 'The shop opens at nine.');
    });
    expect(outcome).toEqual({ outcome: 'snoozed', dueAt: new Date(run.time.now() + 3_600_000) });
    expect(run.calls.snooze).toEqual([
      {
        jobId: JOB_ID,
        owner: 'worker-1',
        fencingToken: '7',
        delayMs: 3_600_000,
        reason: 'The shop opens at nine.',
      },
    ]);
    expect(run.calls.fail).toHaveLength(0);
  });

  test.each([
    ['nothing, which would be a busy loop', 0, 1000],
    ['the past', new Date(NOW - 1), 1000],
    ['two years', 2 * 366 * 86_400, 366 * 86_400_000],
  ])('of %s is moved into the bounds', (_name, after, delayMs) => {
    expect(thrownEnding(new Snooze(after, 'x'), NOW)).toMatchObject({ kind: 'snoozed', delayMs });
  });

  test('answers like any report: cancelled, lease lost, unknown', async () => {
    for (const outcome of ['cancelled', 'lease_lost'] as const) {
      const run = scriptedRun();
      run.script.snooze = async () => ({ outcome });
      const ended = await run.start(() => {
        throw new Snooze(1, 'x');
      });
      expect(ended).toEqual({ outcome });
    }
    const run = scriptedRun();
    run.script.snooze = async () => {
      throw new LeaseholdError('database_unavailable', 'x');
    };
    const ended = run.start(() => {
      throw new Snooze(1, 'x');
    });
    await run.time.advance(60_000);
    expect(await ended).toEqual({ outcome: 'unknown' });
  });

  test('a reason is cut to what can be stored', async () => {
    const run = scriptedRun();
    await run.start(() => {
      throw new Snooze(1, `a\u0000${'b'.repeat(5000)}`);
    });
    expect(run.calls.snooze[0]?.reason?.length).toBeLessThanOrEqual(1000);
    expect(run.calls.snooze[0]?.reason).not.toContain('\u0000');
  });
});

describe('case G1 a job that is called off while it runs', () => {
  const cancelledAtBeat = (run: ReturnType<typeof scriptedRun>): void => {
    run.script.heartbeat = async () => ({
      outcome: 'held',
      leaseExpiresAt: new Date(run.time.now() + 30_000),
      leaseRemainingMs: 30_000,
      cancelRequested: true,
    });
    run.script.fail = async () => ({ outcome: 'cancelled', moreDue: false });
    run.script.complete = async () => ({ outcome: 'cancelled', moreDue: true });
  };

  test('fires the signal with the reason, and the attempt is reported', async () => {
    const run = scriptedRun();
    cancelledAtBeat(run);
    let reason: unknown;
    const ended = run.start(async ({ signal }) => {
      const { promise, reject } = deferred<never>();
      signal.addEventListener('abort', () => {
        reason = signal.reason;
        reject(signal.reason as Error);
      });
      return await promise;
    });
    await run.time.advance(10_000);
    expect(await ended).toEqual({ outcome: 'cancelled', moreDue: false });
    expect(reason).toMatchObject({ name: 'AbortError', why: 'cancelled' });
    expect(reason).toBeInstanceOf(DOMException);
    expect(run.calls.fail).toMatchObject([{ error: { code: 'cancelled' } }]);
    expect(run.calls.heartbeat).toHaveLength(1);
    expect(run.log.events).toEqual(['handler_stopped', 'job_cancelled']);
  });

  test('keeps the result of a handler that finishes all the same', async () => {
    const run = scriptedRun();
    cancelledAtBeat(run);
    const end = deferred<string>();
    const ended = run.start(({ signal }) => {
      signal.addEventListener('abort', () => end.resolve('nearly done'));
      return end.promise;
    });
    await run.time.advance(10_000);
    expect(await ended).toEqual({ outcome: 'cancelled', moreDue: true });
    expect(run.calls.complete).toMatchObject([{ result: 'nearly done' }]);
    expect(run.calls.fail).toHaveLength(0);
  });

  test('after its last heartbeat: complete says so, and that is an ordinary outcome', async () => {
    const run = scriptedRun();
    run.script.complete = async () => ({ outcome: 'cancelled', moreDue: true });
    expect(await run.start(() => 'done')).toEqual({ outcome: 'cancelled', moreDue: true });
    expect(run.log.events).toEqual(['job_cancelled']);
  });
});
