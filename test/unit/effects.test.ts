import { describe, expect, test } from 'vitest';

import { EffectNotDone } from '../../shared/effects.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { PermanentError, TransientError } from '../../shared/handler-errors.ts';
import { JOB_ID, scriptedRun } from './support/scripted-run.ts';

const LEASE = { jobId: JOB_ID, owner: 'worker-1', fencingToken: '7' };
const SETTLER = { jobId: JOB_ID, actor: 'worker-1', fencingToken: '7' };

describe('S1.12 an effect', () => {
  test('is recorded before it runs and after, with its result', async () => {
    const run = scriptedRun();
    const order: string[] = [];
    run.script.beginEffect = async () => {
      order.push('begin');
      return { outcome: 'run' };
    };
    run.script.settleEffect = async () => {
      order.push('settle');
      return 'settled';
    };
    const outcome = await run.start(async ({ effect }) => {
      const charged = await effect('charge', ({ idempotencyKey, signal }) => {
        order.push(`run ${idempotencyKey} ${signal.aborted}`);
        return { id: 'ch_1' };
      });
      return charged.id;
    });
    expect(outcome).toMatchObject({ outcome: 'succeeded' });
    expect(order).toEqual(['begin', `run ${JOB_ID}/charge false`, 'settle']);
    expect(run.calls.beginEffect).toEqual([{ ...LEASE, key: 'charge' }]);
    expect(run.calls.settleEffect).toEqual([
      { ...SETTLER, key: 'charge', state: 'done', result: { id: 'ch_1' } },
    ]);
    expect(run.calls.complete).toMatchObject([{ result: 'ch_1' }]);
  });

  test('that was done earlier gives its stored result and does not run', async () => {
    const run = scriptedRun();
    run.script.beginEffect = async () => ({ outcome: 'done', result: { id: 'ch_0' } });
    await run.start(async ({ effect }) => {
      return await effect('charge', () => {
        throw new Error('ran again');
      });
    });
    expect(run.calls.complete).toMatchObject([{ result: { id: 'ch_0' } }]);
    expect(run.calls.settleEffect).toHaveLength(0);
  });

  test('whose outcome is not known is settled by what reconcile finds: done', async () => {
    const run = scriptedRun();
    run.script.beginEffect = async () => ({ outcome: 'uncertain' });
    await run.start(({ effect }) =>
      effect(
        'charge',
        (): { id: string } => {
          throw new Error('ran again');
        },
        () => ({ state: 'done', result: { id: 'found' } }),
      ),
    );
    expect(run.calls.complete).toMatchObject([{ result: { id: 'found' } }]);
    expect(run.calls.settleEffect).toMatchObject([{ state: 'done', result: { id: 'found' } }]);
  });

  test('whose outcome is not known is settled by what reconcile finds: not done, so it runs', async () => {
    const run = scriptedRun();
    const begun = ['uncertain', 'run'] as const;
    run.script.beginEffect = async () => ({
      outcome: begun[run.calls.beginEffect.length - 1] ?? 'run',
    });
    let runs = 0;
    await run.start(({ effect }) =>
      effect(
        'charge',
        () => {
          runs += 1;
          return runs;
        },
        () => ({ state: 'not_done' }),
      ),
    );
    expect(runs).toBe(1);
    expect(run.calls.settleEffect.map(({ state }) => state)).toEqual(['not_done', 'done']);
    expect(run.calls.beginEffect).toHaveLength(2);
  });

  test('whose outcome is not known and cannot be reconciled is for a person', async () => {
    const run = scriptedRun();
    run.script.beginEffect = async () => ({ outcome: 'uncertain' });
    let runs = 0;
    await run.start(({ effect }) => effect('charge', () => void (runs += 1)));
    expect(runs).toBe(0);
    expect(run.calls.settleEffect).toHaveLength(0);
    expect(run.calls.fail).toMatchObject([
      { failureClass: 'permanent', error: { code: 'effect_uncertain' } },
    ]);
  });

  test('that fails stays uncertain: the request may have arrived', async () => {
    const run = scriptedRun();
    await run.start(({ effect }) =>
      effect('charge', () => {
        throw new TransientError('bank_away', 'no answer');
      }),
    );
    expect(run.calls.settleEffect).toHaveLength(0);
    expect(run.calls.fail).toMatchObject([{ error: { code: 'bank_away' } }]);
  });

  test('that fails is not simply run again by the same attempt', async () => {
    const run = scriptedRun();
    let runs = 0;
    await run.start(async ({ effect }) => {
      const charge = async (): Promise<void> =>
        await effect('charge', () => {
          runs += 1;
          throw new Error('no answer');
        });
      await charge().catch(() => undefined);
      await charge();
    });
    expect(runs).toBe(1);
    expect(run.calls.fail).toMatchObject([{ error: { code: 'effect_uncertain' } }]);
  });

  test('that fails can be reconciled by the same attempt, and then runs again', async () => {
    const run = scriptedRun();
    let runs = 0;
    await run.start(async ({ effect }) => {
      const charge = async (): Promise<number> =>
        await effect(
          'charge',
          () => {
            runs += 1;
            if (runs === 1) throw new Error('no answer');
            return runs;
          },
          () => ({ state: 'not_done' }),
        );
      await charge().catch(() => undefined);
      return await charge();
    });
    expect(run.calls.complete).toMatchObject([{ result: 2 }]);
    expect(run.calls.settleEffect.map(({ state }) => state)).toEqual(['not_done', 'done']);
  });

  test('is not run twice by two calls at one time', async () => {
    const run = scriptedRun();
    run.script.beginEffect = async () =>
      run.calls.settleEffect.length === 0
        ? { outcome: 'run' }
        : { outcome: 'done', result: 'charged' };
    let runs = 0;
    await run.start(async ({ effect }) => {
      const charge = (): Promise<string> =>
        effect('charge', async () => {
          runs += 1;
          return await Promise.resolve('charged');
        });
      return await Promise.all([charge(), charge()]);
    });
    expect(runs).toBe(1);
    expect(run.calls.complete).toMatchObject([{ result: ['charged', 'charged'] }]);
  });

  test('that was refused is settled as not done, and the refusal fails the attempt', async () => {
    const run = scriptedRun();
    await run.start(({ effect }) =>
      effect('charge', () => {
        throw new EffectNotDone(new PermanentError('card_declined', 'no'));
      }),
    );
    expect(run.calls.settleEffect).toMatchObject([{ state: 'not_done' }]);
    expect(run.calls.fail).toMatchObject([
      { failureClass: 'permanent', error: { code: 'card_declined' } },
    ]);
  });

  test('does not run once the lease is lost, and nothing is reported', async () => {
    const run = scriptedRun();
    run.script.beginEffect = async () => ({ outcome: 'lease_lost' });
    let runs = 0;
    const outcome = await run.start(({ effect }) => effect('charge', () => void (runs += 1)));
    expect(outcome).toEqual({ outcome: 'lease_lost' });
    expect(runs).toBe(0);
    expect(run.calls.fail).toHaveLength(0);
    expect(run.calls.complete).toHaveLength(0);
  });

  test('does not run when its intent could not be recorded', async () => {
    const run = scriptedRun();
    run.script.beginEffect = async () => {
      throw new LeaseholdError('database_unavailable', 'The database did not answer.');
    };
    let runs = 0;
    await run.start(({ effect }) => effect('charge', () => void (runs += 1)));
    expect(runs).toBe(0);
    expect(run.calls.fail).toMatchObject([{ failureClass: 'transient' }]);
  });

  test('does not run after the handler was told to stop', async () => {
    const run = scriptedRun();
    let runs = 0;
    const ended = run.start(
      async ({ effect, signal }) => {
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve());
        });
        return await effect('charge', () => void (runs += 1));
      },
      { maxRunSeconds: 5 },
    );
    await run.time.advance(6_000);
    await ended;
    expect(runs).toBe(0);
  });

  test.each([
    ['a BigInt', 10n],
    ['a function', () => undefined],
    ['more than 64 KiB', 'x'.repeat(70_000)],
    ['a NUL', 'a\u0000b'],
  ])('with a result that cannot be kept (%s) is done, and says so', async (_name, result) => {
    const run = scriptedRun();
    await run.start(({ effect }) => effect('charge', () => result as string));
    expect(run.calls.settleEffect).toMatchObject([{ state: 'done', result: null }]);
    expect(run.calls.fail).toMatchObject([
      { failureClass: 'permanent', error: { code: 'effect_result_not_kept' } },
    ]);
  });

  test('without a result is kept as null, and its key may hold anything', async () => {
    const run = scriptedRun();
    let idempotencyKey = '';
    const outcome = await run.start(({ effect }) =>
      effect('send 📧', (context) => {
        ({ idempotencyKey } = context);
      }),
    );
    expect(outcome).toMatchObject({ outcome: 'succeeded' });
    expect(run.calls.settleEffect).toMatchObject([{ key: 'send 📧', state: 'done', result: null }]);
    expect(() => new Headers({ 'idempotency-key': idempotencyKey })).not.toThrow();
  });
});
