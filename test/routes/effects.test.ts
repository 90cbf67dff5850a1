import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { cancel } from '../../shared/queue/cancel.ts';
import { redrive } from '../../shared/queue/redrive.ts';
import { settleEffect } from '../../shared/queue/settle-effect.ts';
import { TransientError } from '../../shared/handler-errors.ts';
import { createScriptedWork } from './support/scripted-work.ts';
import type { ScriptedWork } from './support/scripted-work.ts';

let scripted: ScriptedWork;
beforeAll(async () => {
  scripted = await createScriptedWork();
});
afterAll(() => scripted.app.close());
beforeEach(() => scripted.reset());

/** The bank of these tests: it does what it is asked to, and may lose its answer. */
class Bank {
  readonly charges: string[] = [];
  losesAnswers = false;

  charge(idempotencyKey: string): string {
    this.charges.push(idempotencyKey);
    if (this.losesAnswers) throw new TransientError('bank_away', 'No answer.');
    return `ch_${this.charges.length}`;
  }
}

async function makeDue(): Promise<void> {
  await scripted.app.database.pool.query(
    'update leasehold.job_state set due_at = clock_timestamp()',
  );
}

async function eventTypes(id: string): Promise<string[]> {
  const { rows } = await scripted.app.database.pool.query<{ type: string }>(
    'select type from leasehold.job_events where job_id = $1 order by id',
    [id],
  );
  return rows.map(({ type }) => type);
}

describe('S1.12 effects that nobody knows the end of', () => {
  test('a done effect is not repeated by the next attempt', async () => {
    const bank = new Bank();
    scripted.behaviours.set('charges', async ({ effect, attempt }) => {
      const charge = await effect('charge', ({ idempotencyKey }) => bank.charge(idempotencyKey));
      if (attempt === 1) throw new TransientError('after_the_effect', 'x');
      return charge;
    });
    const id = await scripted.enqueue('charges');
    expect((await scripted.work()).body).toMatchObject({ outcome: 'retrying' });
    await makeDue();
    expect((await scripted.work()).body).toMatchObject({ outcome: 'succeeded', attempt: 2 });
    expect(bank.charges).toEqual([`${id}/charge`]);
    expect(await scripted.job(id)).toMatchObject({ result: 'ch_1' });
  });

  test('a lost answer is reconciled by the next attempt, not guessed', async () => {
    const bank = new Bank();
    scripted.behaviours.set('charges', ({ effect }) =>
      effect(
        'charge',
        ({ idempotencyKey }) => bank.charge(idempotencyKey),
        ({ idempotencyKey }) =>
          bank.charges.includes(idempotencyKey)
            ? { state: 'done', result: 'found at the bank' }
            : { state: 'not_done' },
      ),
    );
    const id = await scripted.enqueue('charges');
    bank.losesAnswers = true;
    await scripted.work();
    bank.losesAnswers = false;
    await makeDue();
    expect((await scripted.work()).body).toMatchObject({ outcome: 'succeeded' });
    expect(bank.charges).toHaveLength(1);
    expect(await scripted.job(id)).toMatchObject({ result: 'found at the bank' });
    expect((await eventTypes(id)).filter((type) => type.startsWith('effect'))).toEqual([
      'effect_started',
      'effect_uncertain',
      'effect_done',
    ]);
  });

  test('a request that never arrived is found to be so, and is made', async () => {
    const bank = new Bank();
    scripted.behaviours.set('charges', ({ effect, attempt }) =>
      effect(
        'charge',
        ({ idempotencyKey }) => {
          if (attempt === 1) throw new TransientError('bank_away', 'No connection.');
          return bank.charge(idempotencyKey);
        },
        () => ({ state: 'not_done' }),
      ),
    );
    const id = await scripted.enqueue('charges');
    await scripted.work();
    await makeDue();
    expect((await scripted.work()).body).toMatchObject({ outcome: 'succeeded' });
    expect(bank.charges).toEqual([`${id}/charge`]);
  });

  test('without a reconcile step a person decides on the dead letter, then redrives', async () => {
    const bank = new Bank();
    scripted.behaviours.set('charges', ({ effect }) =>
      effect('charge', ({ idempotencyKey }) => bank.charge(idempotencyKey)),
    );
    const id = await scripted.enqueue('charges');
    bank.losesAnswers = true;
    await scripted.work();
    await makeDue();
    expect((await scripted.work()).body).toMatchObject({
      outcome: 'dead',
      code: 'effect_uncertain',
    });
    expect(bank.charges).toHaveLength(1);

    const { sql } = scripted.app.database;
    const word = {
      jobId: id,
      key: 'charge',
      state: 'done',
      result: 'ch_1',
      actor: 'maria',
    } as const;
    expect(await settleEffect(sql, word)).toBe('settled');
    await redrive(sql, { jobIds: [id], reason: 'the bank has it', actor: 'maria' });
    expect((await scripted.work()).body).toMatchObject({ outcome: 'succeeded' });
    expect(bank.charges).toHaveLength(1);
    expect(await scripted.job(id)).toMatchObject({ state: 'succeeded', result: 'ch_1' });
  });

  test('B.4 the key of a job stays through retry and redrive, and its fencing token grows', async () => {
    const seen: { key: string; token: string }[] = [];
    scripted.behaviours.set('fails', ({ idempotencyKey, fencingToken }) => {
      seen.push({ key: idempotencyKey, token: fencingToken });
      throw new TransientError('away', 'x');
    });
    const id = await scripted.enqueue('fails', { max_attempts: 2 });
    await scripted.work();
    await makeDue();
    await scripted.work();
    await redrive(scripted.app.database.sql, { jobIds: [id], reason: 'again', actor: 'maria' });
    await scripted.work();
    expect(seen).toEqual([
      { key: id, token: '1' },
      { key: id, token: '2' },
      { key: id, token: '3' },
    ]);
  });

  test('an attempt whose lease was taken away does not begin one', async () => {
    let runs = 0;
    scripted.behaviours.set('charges', async ({ effect }) => {
      await scripted.app.database.pool.query(
        "update leasehold.job_state set fencing_token = fencing_token + 1, owner = 'other'",
      );
      return await effect('charge', () => void (runs += 1));
    });
    await scripted.enqueue('charges');
    expect((await scripted.work()).body).toMatchObject({ outcome: 'lease_lost' });
    expect(runs).toBe(0);
  });
});

describe('case G1 a cancel meets a handler', () => {
  test('at its next heartbeat: the signal fires, the attempt is reported, the job ends cancelled', async () => {
    let why: unknown;
    scripted.behaviours.set('waits', async ({ signal }) => {
      expect(await cancel(scripted.app.database.sql, { jobId: id, actor: 'maria' })).toBe(
        'cancel_requested',
      );
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          why = signal.reason;
          resolve();
        });
      });
      throw signal.reason as Error;
    });
    const id = await scripted.enqueue('waits');
    expect((await scripted.work()).body).toMatchObject({ outcome: 'cancelled' });
    expect(why).toMatchObject({ name: 'AbortError', why: 'cancelled' });
    expect(await scripted.job(id)).toMatchObject({ state: 'cancelled' });
    expect(await eventTypes(id)).toEqual([
      'created',
      'claimed',
      'cancel_requested',
      'heartbeat',
      'failed',
      'cancelled',
    ]);
  });

  test('after its last heartbeat: the completing statement sees it, and the result is kept', async () => {
    scripted.behaviours.set('finishes', async () => {
      await cancel(scripted.app.database.sql, { jobId: id, actor: 'maria' });
      return 'too late to stop';
    });
    const id = await scripted.enqueue('finishes');
    expect((await scripted.work()).body).toMatchObject({ outcome: 'cancelled' });
    expect(await scripted.job(id)).toMatchObject({
      state: 'cancelled',
      result: 'too late to stop',
    });
  });
});
