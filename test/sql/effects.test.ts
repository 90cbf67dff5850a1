import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { beginEffect } from '../../shared/queue/begin-effect.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { settleEffect } from '../../shared/queue/settle-effect.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, claimed, eventTypes, expireLease, snapshot } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const states = async (jobId: string) =>
  (await getJob(db.sql, { jobId }))?.effects.map((effect) => effect.state);

describe('leasehold.begin_effect and leasehold.settle_effect', () => {
  test('S1.12 intent before, result after; a later attempt is given the result instead of doing it again', async () => {
    const jobId = await added(db.sql, { queue: 'pay' });
    const first = await claimed(db.sql, 'pay');
    expect(await beginEffect(db.sql, { ...first, key: 'charge' })).toEqual({ outcome: 'run' });
    expect(await states(jobId)).toEqual(['started']);
    const done = {
      jobId,
      key: 'charge',
      state: 'done',
      result: { id: 'ch_1' },
      actor: first.owner,
    } as const;
    expect(await settleEffect(db.sql, { ...done, fencingToken: first.fencingToken })).toBe(
      'settled',
    );
    expect(await settleEffect(db.sql, { ...done, fencingToken: first.fencingToken })).toBe(
      'settled',
    );
    await expireLease(db.pool, jobId);
    const second = await claimed(db.sql, 'pay');
    expect(await beginEffect(db.sql, { ...second, key: 'charge' })).toEqual({
      outcome: 'done',
      result: { id: 'ch_1' },
    });
    expect(await eventTypes(db.pool, jobId)).toEqual([
      'created',
      'claimed',
      'effect_started',
      'effect_done',
      'lease_expired',
      'claimed',
    ]);
  });

  test('S1.12 a crash between leaves the effect uncertain for the next attempt, which settles it', async () => {
    const jobId = await added(db.sql, { queue: 'crash' });
    await beginEffect(db.sql, { ...(await claimed(db.sql, 'crash')), key: 'charge' });
    await expireLease(db.pool, jobId);
    expect(await states(jobId)).toEqual(['uncertain']);
    const second = await claimed(db.sql, 'crash');
    expect(await beginEffect(db.sql, { ...second, key: 'charge' })).toEqual({
      outcome: 'uncertain',
    });
    const word = {
      jobId,
      key: 'charge',
      state: 'not_done',
      actor: second.owner,
      fencingToken: second.fencingToken,
    } as const;
    expect(await settleEffect(db.sql, word)).toBe('settled');
    expect(await beginEffect(db.sql, { ...second, key: 'charge' })).toEqual({ outcome: 'run' });
    expect(await states(jobId)).toEqual(['started']);
  });

  test('B.3 a repeated begin of the same attempt says run again, and writes one event', async () => {
    const jobId = await added(db.sql, { queue: 'again' });
    const job = await claimed(db.sql, 'again');
    await beginEffect(db.sql, { ...job, key: 'k' });
    const before = await snapshot(db.pool, jobId);
    expect(await beginEffect(db.sql, { ...job, key: 'k' })).toEqual({ outcome: 'run' });
    expect(await snapshot(db.pool, jobId)).toBe(before);
  });

  test('S1.4 a stale attempt can neither begin nor settle', async () => {
    const jobId = await added(db.sql, { queue: 'stale' });
    const a = await claimed(db.sql, 'stale', 'a');
    await beginEffect(db.sql, { ...a, key: 'k' });
    await expireLease(db.pool, jobId);
    expect(await beginEffect(db.sql, { ...a, key: 'late' })).toEqual({ outcome: 'lease_lost' });
    const b = await claimed(db.sql, 'stale', 'b');
    expect(await beginEffect(db.sql, { ...a, key: 'other' })).toEqual({ outcome: 'lease_lost' });
    expect(
      await settleEffect(db.sql, {
        jobId,
        key: 'k',
        state: 'done',
        actor: 'a',
        fencingToken: a.fencingToken,
      }),
    ).toBe('lease_lost');
    expect(await beginEffect(db.sql, { ...b, key: 'k' })).toEqual({ outcome: 'uncertain' });
  });

  test('a person settles while no attempt runs, and is refused while one does', async () => {
    const jobId = await added(db.sql, { queue: 'person' });
    const job = await claimed(db.sql, 'person');
    await beginEffect(db.sql, { ...job, key: 'k' });
    const word = {
      jobId,
      key: 'k',
      state: 'done',
      result: 'seen at the bank',
      actor: 'maria',
    } as const;
    expect(await settleEffect(db.sql, word)).toBe('running');
    await expireLease(db.pool, jobId);
    expect(await settleEffect(db.sql, word)).toBe('settled');
    expect((await getJob(db.sql, { jobId }))?.effects).toMatchObject([
      { state: 'done', settled_by: 'maria', result: 'seen at the bank' },
    ]);
    expect(await settleEffect(db.sql, { ...word, key: 'nothing' })).toBe('not_found');
  });

  test('keys and results are checked by name', async () => {
    await added(db.sql, { queue: 'checked' });
    const job = await claimed(db.sql, 'checked');
    for (const key of ['', 'k'.repeat(201), 'a\u0000'.replace('\u0000', '\u0001')]) {
      await expect(beginEffect(db.sql, { ...job, key })).rejects.toThrow(/key: give/);
    }
    const result = Array.from({ length: 9000 }, (_, i) => `row ${i}`);
    await expect(
      settleEffect(db.sql, { jobId: job.jobId, key: 'k', state: 'done', result, actor: 'm' }),
    ).rejects.toThrow(/result: give at most/);
  });
});
