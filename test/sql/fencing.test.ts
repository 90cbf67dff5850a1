import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { complete } from '../../shared/queue/complete.ts';
import { fail } from '../../shared/queue/fail.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { heartbeat } from '../../shared/queue/heartbeat.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, claimed, expireLease, snapshot } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const error = { code: 'timeout', message: 'No answer.' };

describe('fencing', () => {
  test('S1.3 every call of a holder names job, owner and token and needs an unexpired lease', async () => {
    const jobId = await added(db.sql, { queue: 'fenced' });
    const job = await claimed(db.sql, 'fenced');
    const before = await snapshot(db.pool, jobId);
    const wrong = [
      { ...job, fencingToken: '2' },
      { ...job, owner: 'someone-else' },
      { ...job, jobId: '01890a5d-ac96-774b-bcce-b302099a8057' },
    ];
    for (const lease of wrong) {
      expect(await heartbeat(db.sql, { ...lease, step: 1 })).toEqual({ outcome: 'lease_lost' });
      expect(await complete(db.sql, lease)).toEqual({ outcome: 'lease_lost' });
      expect(await fail(db.sql, { ...lease, error, failureClass: 'transient' })).toEqual({
        outcome: 'lease_lost',
      });
    }
    expect(await snapshot(db.pool, jobId)).toBe(before);

    await expireLease(db.pool, jobId);
    const expired = await snapshot(db.pool, jobId);
    expect(await heartbeat(db.sql, { ...job, step: 1 })).toEqual({ outcome: 'lease_lost' });
    expect(await complete(db.sql, job)).toEqual({ outcome: 'lease_lost' });
    expect(await fail(db.sql, { ...job, error, failureClass: 'transient' })).toEqual({
      outcome: 'lease_lost',
    });
    expect(await snapshot(db.pool, jobId)).toBe(expired);
  });

  test('S1.4 S2.3 case C3 a paused worker whose job was claimed again changes nothing when it wakes', async () => {
    const jobId = await added(db.sql, { queue: 'paused' });
    const a = await claimed(db.sql, 'paused', 'worker-a');
    await expireLease(db.pool, jobId);
    const b = await claimed(db.sql, 'paused', 'worker-b');
    const before = await snapshot(db.pool, jobId);
    expect(await complete(db.sql, { ...a, result: 'stale' })).toEqual({ outcome: 'lease_lost' });
    expect(await heartbeat(db.sql, { ...a, step: 1, progress: 'stale' })).toEqual({
      outcome: 'lease_lost',
    });
    expect(await fail(db.sql, { ...a, error, failureClass: 'permanent' })).toEqual({
      outcome: 'lease_lost',
    });
    expect(await snapshot(db.pool, jobId)).toBe(before);
    expect((await complete(db.sql, { ...b, result: 'fresh' })).outcome).toBe('succeeded');
    expect(await complete(db.sql, { ...a, result: 'stale' })).toEqual({ outcome: 'lease_lost' });
    expect(await getJob(db.sql, { jobId })).toMatchObject({
      result: 'fresh',
      finished_by: 'worker-b',
    });
  });

  test('S1.4 the same worker name does not help: the token decides', async () => {
    const jobId = await added(db.sql, { queue: 'same-name' });
    const a = await claimed(db.sql, 'same-name', 'worker');
    await expireLease(db.pool, jobId);
    const b = await claimed(db.sql, 'same-name', 'worker');
    expect(await complete(db.sql, a)).toEqual({ outcome: 'lease_lost' });
    expect((await complete(db.sql, b)).outcome).toBe('succeeded');
  });
});
