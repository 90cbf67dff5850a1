import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import { LeaseholdError } from '../../shared/errors.ts';
import type { HandlerContext } from '../../shared/handler.ts';
import {
  ABORT_GRACE_MS,
  DEFAULT_STEP_SECONDS,
  LEASE_MARGIN_MS,
  REPORT_MARGIN_MS,
  REPORT_RETRY_MS,
} from '../../shared/limits.ts';
import { settle } from './support/manual-clock.ts';
import { deferred, scriptedRun } from './support/scripted-run.ts';
import type { ScriptedRun } from './support/scripted-run.ts';

/** A handler that notes when it was told to stop, and then ends. */
function stopping(run: ScriptedRun): {
  readonly at: () => number;
  readonly handler: (context: HandlerContext) => Promise<never>;
} {
  const startedAt = run.time.now();
  let stoppedAt = Number.NaN;
  return {
    at: () => stoppedAt - startedAt,
    handler: async ({ signal }) => {
      const { promise, reject } = deferred<never>();
      signal.addEventListener('abort', () => {
        stoppedAt = run.time.now();
        reject(new Error('stopped'));
      });
      return await promise;
    },
  };
}

function refusing(code: 'database_error' | 'invalid_request' | 'database_unavailable') {
  return async (): Promise<never> => {
    throw new LeaseholdError(code, 'no');
  };
}

describe('the time of an attempt', () => {
  test('ends before the deadline of the queue, with time left to report', async () => {
    const run = scriptedRun();
    const stop = stopping(run);
    const ended = run.start(stop.handler, {
      job: { runRemainingMs: 25_000, leaseRemainingMs: 600_000 },
    });
    await run.time.advance(25_000);
    expect(await ended).toMatchObject({ outcome: 'retrying', code: 'run_deadline_exceeded' });
    expect(stop.at()).toBe(25_000 - REPORT_MARGIN_MS);
    expect(run.calls.fail).toMatchObject([{ failureClass: 'transient' }]);
  });

  test('ends at the deadline also while a heartbeat is tried again', async () => {
    const run = scriptedRun();
    run.script.heartbeat = refusing('database_unavailable');
    const stop = stopping(run);
    const ended = run.start(stop.handler, { maxRunSeconds: 15 });
    await run.time.advance(15_000);
    expect(await ended).toMatchObject({ code: 'run_deadline_exceeded' });
    expect(stop.at()).toBe(15_000);
  });

  test('is over before a schema that took all of it lets the handler start', async () => {
    const run = scriptedRun();
    const checked = deferred<boolean>();
    let started = false;
    const ended = run.start(
      () => {
        started = true;
      },
      { maxRunSeconds: 5, schema: z.unknown().refine(() => checked.promise) },
    );
    await run.time.advance(5_000);
    checked.resolve(true);
    await run.time.advance(ABORT_GRACE_MS);
    expect(await ended).toMatchObject({ code: 'run_deadline_exceeded' });
    expect(started).toBe(false);
  });

  test('leaves a stopped handler its grace and no more', async () => {
    const run = scriptedRun();
    let reported = false;
    const ended = run
      .start(() => new Promise(() => undefined), { maxRunSeconds: 5 })
      .finally(() => {
        reported = true;
      });
    await run.time.advance(5_000 + ABORT_GRACE_MS - 1);
    expect(reported).toBe(false);
    await run.time.advance(1);
    expect(await ended).toMatchObject({ code: 'run_deadline_exceeded' });
  });
});

describe('the lease of an attempt', () => {
  test('is renewed by what the handler declares', async () => {
    const run = scriptedRun();
    const end = deferred();
    const ended = run.start(() => end.promise, { leaseSeconds: 90 });
    await run.time.advance(10_000);
    expect(run.calls.heartbeat).toMatchObject([{ leaseSeconds: 90 }]);
    end.resolve();
    await ended;
  });

  test('counts from when the beat was sent, not from when its answer came', async () => {
    const run = scriptedRun();
    const held = run.script.heartbeat;
    run.script.heartbeat = async (input) => {
      run.script.heartbeat = () => new Promise(() => undefined);
      await run.time.timer.sleep(5_000);
      return await held(input);
    };
    const stop = stopping(run);
    const ended = run.start(stop.handler);
    await run.time.advance(60_000);
    expect(await ended).toMatchObject({ code: 'lease_expired' });
    expect(stop.at()).toBe(10_000 + 30_000 - LEASE_MARGIN_MS);
  });

  test('is not renewed beyond the step time of a handler that declares none', async () => {
    const run = scriptedRun();
    const stop = stopping(run);
    const ended = run.start(stop.handler);
    await run.time.advance(120_000);
    expect(await ended).toMatchObject({ code: 'no_progress' });
    // Beats at each 10 s; the one at the end of the step time is no longer earned.
    expect(run.calls.heartbeat).toHaveLength(DEFAULT_STEP_SECONDS / 10 - 1);
  });

  test('once proven again, its end is no lack of progress', async () => {
    const run = scriptedRun();
    let progress: HandlerContext['progress'] = () => undefined;
    const stop = stopping(run);
    const ended = run.start(
      (context) => {
        ({ progress } = context);
        return stop.handler(context);
      },
      { stepSeconds: 5 },
    );
    await run.time.advance(12_000); // the first beat was withheld
    progress('moved');
    await run.time.advance(2_000);
    expect(run.calls.heartbeat).toHaveLength(1);
    run.time.jump(45_000); // the processor was not ours
    await run.time.advance(0);
    expect(await ended).toMatchObject({ code: 'lease_expired' });
  });

  test('without progress ends the run, but what the handler still returns counts', async () => {
    const run = scriptedRun();
    const ended = run.start(
      async ({ signal }) => {
        const { promise, resolve } = deferred<string>();
        signal.addEventListener('abort', () => resolve('done'));
        return await promise;
      },
      { stepSeconds: 5 },
    );
    await run.time.advance(30_000);
    expect(await ended).toMatchObject({ outcome: 'succeeded' });
    expect(run.calls.complete).toMatchObject([{ result: 'done' }]);
  });
});

describe('the report of an attempt', () => {
  test('is not repeated beyond the invocation, whatever is left of the lease', async () => {
    const run = scriptedRun();
    run.script.complete = refusing('database_unavailable');
    const ended = run.start(() => 'done', { invocationMs: 10_000 });
    await run.time.advance(10_000);
    expect(await ended).toEqual({ outcome: 'unknown' });
    expect(run.calls.complete).toHaveLength(10_000 / REPORT_RETRY_MS);
  });

  test('is said once when the database refuses it and there is no result to leave out', async () => {
    const run = scriptedRun();
    run.script.complete = refusing('database_error');
    expect(await run.start(() => undefined)).toEqual({ outcome: 'unknown' });
    expect(run.calls.complete).toHaveLength(1);
  });

  test('case B5 goes out at once without a result that the database calls invalid', async () => {
    const run = scriptedRun();
    const { complete } = run.script;
    run.script.complete = (input) =>
      input.result === undefined ? complete(input) : refusing('invalid_request')();
    const ended = run.start(() => 'odd');
    await settle();
    expect(await ended).toMatchObject({ outcome: 'succeeded' });
    expect(run.calls.complete).toHaveLength(2);
  });
});
