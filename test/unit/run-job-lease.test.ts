import { describe, expect, test } from 'vitest';

import { LeaseholdError } from '../../shared/errors.ts';
import type { HandlerContext } from '../../shared/handler.ts';
import { settle } from './support/manual-clock.ts';
import { JOB_ID, deferred, scriptedRun } from './support/scripted-run.ts';

const unavailable = (): LeaseholdError =>
  new LeaseholdError('database_unavailable', 'The database did not answer.');

/** A handler that ends when it is told to stop, as a `fetch` with the signal does. */
async function untilAborted({ signal }: HandlerContext): Promise<never> {
  const { promise, reject } = deferred<never>();
  signal.addEventListener('abort', () => reject(signal.reason as Error));
  return await promise;
}

describe('S1.5 a lease is renewed only with evidence of progress', () => {
  test('at each third of the lease while within the step time', async () => {
    const run = scriptedRun();
    const end = deferred();
    const ended = run.start(() => end.promise, { stepSeconds: 60 });
    await run.time.advance(9_999);
    expect(run.calls.heartbeat).toHaveLength(0);
    await run.time.advance(1);
    expect(run.calls.heartbeat).toEqual([
      { jobId: JOB_ID, owner: 'worker-1', fencingToken: '7', step: 1, leaseSeconds: 30 },
    ]);
    await run.time.advance(20_000);
    expect(run.calls.heartbeat.map(({ step }) => step)).toEqual([1, 2, 3]);
    end.resolve();
    expect(await ended).toMatchObject({ outcome: 'succeeded' });
    expect(run.time.sleeping).toBe(0);
  });

  test('past the step time only a marker that moved earns a beat', async () => {
    const run = scriptedRun();
    const end = deferred();
    let progress: (marker: string) => void = () => undefined;
    const ended = run.start(
      async (context) => {
        progress = context.progress;
        await end.promise;
      },
      { stepSeconds: 5 },
    );
    await settle();
    progress('1 of 3');
    await run.time.advance(12_000); // the marker moved since the claim: one beat
    expect(run.calls.heartbeat).toMatchObject([{ step: 1, progress: '1 of 3' }]);
    progress('1 of 3'); // the same marker is no news
    await run.time.advance(12_000);
    expect(run.calls.heartbeat).toHaveLength(1);
    progress('2 of 3');
    await run.time.advance(2_000);
    expect(run.calls.heartbeat).toMatchObject([{}, { step: 2, progress: '2 of 3' }]);
    end.resolve();
    await ended;
  });

  test('a handler that hangs loses its lease although its process lives', async () => {
    const run = scriptedRun();
    const ended = run.start(untilAborted, { stepSeconds: 5 });
    await run.time.advance(29_000);
    expect(await ended).toMatchObject({ outcome: 'retrying', code: 'no_progress' });
    expect(run.calls.heartbeat).toHaveLength(0);
  });

  test('the run deadline cannot be renewed away', async () => {
    const run = scriptedRun();
    let at = 0;
    const ended = run.start(
      async (context) => {
        const { promise, reject } = deferred<never>();
        context.signal.addEventListener('abort', () => {
          at = run.time.now();
          reject(new Error('stopped'));
        });
        return await promise;
      },
      { maxRunSeconds: 45, stepSeconds: 600 },
    );
    const startedAt = run.time.now();
    await run.time.advance(60_000);
    expect(await ended).toMatchObject({ outcome: 'retrying', code: 'run_deadline_exceeded' });
    expect(at - startedAt).toBe(45_000);
    expect(run.calls.heartbeat.length).toBeGreaterThan(2);
  });

  test('the run deadline is reported for a handler that ignores the signal, too', async () => {
    const run = scriptedRun();
    const ended = run.start(() => new Promise(() => undefined), {
      maxRunSeconds: 5,
    });
    await run.time.advance(5_500);
    expect(await ended).toMatchObject({ code: 'run_deadline_exceeded' });
    expect(run.calls.fail).toHaveLength(1);
  });

  test('a result that comes after the run deadline does not count', async () => {
    const run = scriptedRun();
    const ended = run.start(
      async ({ signal }) => {
        const { promise, resolve } = deferred<string>();
        signal.addEventListener('abort', () => resolve('late'));
        return await promise;
      },
      { maxRunSeconds: 5 },
    );
    await run.time.advance(6_000);
    expect(await ended).toMatchObject({ code: 'run_deadline_exceeded' });
    expect(run.calls.complete).toHaveLength(0);
  });
});

describe('case C5 a heartbeat that says lease_lost', () => {
  test('aborts the handler within that beat, and nothing is said afterwards', async () => {
    const run = scriptedRun();
    run.script.heartbeat = async () => ({ outcome: 'lease_lost' });
    let abortedAt = 0;
    const startedAt = run.time.now();
    const ended = run.start(async (context) => {
      const { promise, reject } = deferred<never>();
      context.signal.addEventListener('abort', () => {
        abortedAt = run.time.now();
        reject(new Error('fetch aborted'));
      });
      return await promise;
    });
    await run.time.advance(10_000);
    expect(await ended).toEqual({ outcome: 'lease_lost' });
    expect(abortedAt - startedAt).toBe(10_000);
    await run.time.advance(120_000);
    expect(run.calls.heartbeat).toHaveLength(1);
    expect(run.calls.complete).toHaveLength(0);
    expect(run.calls.fail).toHaveLength(0);
    expect(run.time.sleeping).toBe(0);
  });

  test('wins over a handler that goes on and succeeds', async () => {
    const run = scriptedRun();
    run.script.heartbeat = async () => ({ outcome: 'lease_lost' });
    const end = deferred<string>();
    const ended = run.start(({ signal }) => {
      signal.addEventListener('abort', () => end.resolve('done anyway'));
      return end.promise;
    });
    await run.time.advance(11_000);
    expect(await ended).toEqual({ outcome: 'lease_lost' });
    expect(run.calls.complete).toHaveLength(0);
  });
});

describe('a heartbeat that fails says nothing about the lease', () => {
  test('work goes on, the same beat is repeated, and then it is as if nothing had been', async () => {
    const run = scriptedRun();
    const held = run.script.heartbeat;
    run.script.heartbeat = async () => {
      throw unavailable();
    };
    const end = deferred();
    let aborted = false;
    const ended = run.start(async ({ signal }) => {
      signal.addEventListener('abort', () => {
        aborted = true;
      });
      await end.promise;
    });
    await run.time.advance(15_000);
    const tries = run.calls.heartbeat.length;
    expect(tries).toBeGreaterThan(3);
    expect(new Set(run.calls.heartbeat.map(({ step }) => step))).toEqual(new Set([1]));
    run.script.heartbeat = held;
    await run.time.advance(20_000);
    expect(aborted).toBe(false);
    expect(run.calls.heartbeat.at(-1)?.step).toBe(2);
    end.resolve();
    expect(await ended).toMatchObject({ outcome: 'succeeded' });
    expect(run.log.events.filter((event) => event === 'heartbeat_failed')).toHaveLength(1);
  });

  test('at the local expiry minus a margin the handler must stop', async () => {
    const run = scriptedRun();
    run.script.heartbeat = () => new Promise(() => undefined); // no answer at all
    const startedAt = run.time.now();
    let abortedAt = 0;
    const ended = run.start(async (context) => {
      const { promise, reject } = deferred<never>();
      context.signal.addEventListener('abort', () => {
        abortedAt = run.time.now();
        reject(new Error('stopped'));
      });
      return await promise;
    });
    await run.time.advance(30_000);
    expect(await ended).toMatchObject({ outcome: 'retrying', code: 'lease_expired' });
    expect(abortedAt - startedAt).toBe(29_000);
    expect(run.calls.heartbeat).toHaveLength(1);
  });
});

describe('case C3 a handler that burns CPU past its lease', () => {
  test('learns at complete that the lease is lost, and the worker lives on', async () => {
    const run = scriptedRun();
    run.script.complete = async () => ({ outcome: 'lease_lost' });
    const outcome = await run.start(() => {
      run.time.jump(45_000); // no timer could fire
      return 'late';
    });
    expect(outcome).toEqual({ outcome: 'lease_lost' });
    expect(run.calls.fail).toHaveLength(0);
    expect(run.calls.heartbeat).toHaveLength(0);
    expect(run.log.events).toEqual(['job_lease_lost']);
  });

  test('a server error is another answer than a lost lease', async () => {
    const run = scriptedRun();
    run.script.complete = async () => {
      throw unavailable();
    };
    const outcome = await run.start(() => {
      run.time.jump(45_000);
      return 'late';
    });
    expect(outcome).toEqual({ outcome: 'unknown' });
  });
});

describe('a report without an answer', () => {
  test('is repeated while the lease lasts: the effect must not happen twice for a lost answer', async () => {
    const run = scriptedRun();
    let failures = 3;
    run.script.complete = async () => {
      if (failures > 0) {
        failures -= 1;
        throw unavailable();
      }
      return { outcome: 'succeeded', moreDue: false };
    };
    const ended = run.start(() => 'done');
    await run.time.advance(5_000);
    expect(await ended).toMatchObject({ outcome: 'succeeded' });
    expect(run.calls.complete).toHaveLength(4);
  });

  test('is given up at the end of the lease', async () => {
    const run = scriptedRun();
    run.script.complete = async () => {
      throw unavailable();
    };
    const ended = run.start(() => 'done');
    await run.time.advance(31_000);
    expect(await ended).toEqual({ outcome: 'unknown' });
  });

  test('that the database refuses for good does not crash the worker', async () => {
    const run = scriptedRun();
    run.script.fail = async () => {
      throw new LeaseholdError('database_error', 'no');
    };
    expect(
      await run.start(() => {
        throw new Error('x');
      }),
    ).toEqual({ outcome: 'unknown' });
  });
});

describe('C.2 a run fits into its invocation', () => {
  test('no lease is asked for beyond the end, and the attempt is reported before it', async () => {
    const run = scriptedRun();
    const startedAt = run.time.now();
    const held = run.script.heartbeat;
    const leaseEnds: number[] = [];
    run.script.heartbeat = (input) => {
      leaseEnds.push(run.time.now() - startedAt + (input.leaseSeconds ?? 0) * 1000);
      return held(input);
    };
    const ended = run.start(untilAborted, { invocationMs: 35_000, stepSeconds: 600 });
    await run.time.advance(33_000);
    await settle();
    expect(await ended).toMatchObject({ code: 'run_deadline_exceeded' });
    expect(run.time.now() - startedAt).toBeLessThan(35_000);
    expect(Math.max(...leaseEnds)).toBeLessThanOrEqual(35_000);
    expect(leaseEnds.length).toBeGreaterThan(1);
  });
});
