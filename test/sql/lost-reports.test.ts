import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { complete } from '../../shared/queue/complete.ts';
import { escalate } from '../../shared/queue/escalate.ts';
import { fail } from '../../shared/queue/fail.ts';
import { heartbeat } from '../../shared/queue/heartbeat.ts';
import type { Lease } from '../../shared/queue/lease.ts';
import { release } from '../../shared/queue/release.ts';
import { retain } from '../../shared/queue/retain.ts';
import { snooze } from '../../shared/queue/snooze.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, claimed, expireLease } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const error = { code: 'e', message: 'Nothing came.' };
const calls: Readonly<Record<string, (lease: Lease) => Promise<{ outcome: string }>>> = {
  heartbeat: (lease) => heartbeat(db.sql, { ...lease, step: 1 }),
  complete: (lease) => complete(db.sql, lease),
  fail: (lease) => fail(db.sql, { ...lease, error, failureClass: 'transient' }),
  snooze: (lease) => snooze(db.sql, { ...lease, delayMs: 1000 }),
  release: (lease) => release(db.sql, lease),
  escalate: (lease) => escalate(db.sql, { ...lease, question: 'May I?' }),
};

async function everyCall(lease: Lease): Promise<void> {
  for (const call of Object.values(calls)) {
    expect((await call(lease)).outcome).toBe('lease_lost');
  }
}

async function kindsOf(jobId: string): Promise<string[]> {
  const { rows } = await db.pool.query<{ kind: string }>(
    'select kind from leasehold.lost_reports where job_id = $1 order by kind',
    [jobId],
  );
  return rows.map(({ kind }) => kind);
}

describe('leasehold.note_lost_report', () => {
  test('S1.19 a report that comes after its lease ran out is kept, once a lease and kind', async () => {
    const jobId = await added(db.sql);
    const { owner, fencingToken } = await claimed(db.sql);
    const lease = { jobId, owner, fencingToken };
    await expireLease(db.pool, jobId);
    await everyCall(lease);
    expect(await kindsOf(jobId)).toEqual(Object.keys(calls).toSorted());
    // The same once another attempt has begun: a report of the same lease leaves no second row.
    await claimed(db.sql, 'emails', 'worker-b');
    await everyCall(lease);
    expect(await kindsOf(jobId)).toHaveLength(6);
    const { rows } = await db.pool.query<{ token: string; queue: string }>(
      'select fencing_token::text as token, queue from leasehold.lost_reports where job_id = $1',
      [jobId],
    );
    expect(new Set(rows.map(({ token, queue }) => `${token} ${queue}`))).toEqual(
      new Set(['1 emails']),
    );
  });

  test('a lease that never was, one of somebody else and one that its holder ended leave nothing', async () => {
    const jobId = await added(db.sql, { queue: 'others' });
    const { owner, fencingToken } = await claimed(db.sql, 'others');
    await everyCall({ jobId, owner: 'stranger', fencingToken });
    await everyCall({ jobId, owner, fencingToken: '99' });
    const lease = { jobId, owner, fencingToken };
    expect((await complete(db.sql, lease)).outcome).toBe('succeeded');
    expect((await heartbeat(db.sql, { ...lease, step: 1 })).outcome).toBe('lease_lost');
    expect((await fail(db.sql, { ...lease, error, failureClass: 'unknown' })).outcome).toBe(
      'lease_lost',
    );
    expect(await kindsOf(jobId)).toEqual([]);
  });

  test('retention forgets them after two days', async () => {
    const jobId = await added(db.sql, { queue: 'old' });
    const { owner, fencingToken } = await claimed(db.sql, 'old');
    await expireLease(db.pool, jobId);
    const lease = { jobId, owner, fencingToken };
    await complete(db.sql, lease);
    await heartbeat(db.sql, { ...lease, step: 1 });
    await db.pool.query(
      `update leasehold.lost_reports set at = at - interval '2 days' where job_id = $1 and kind = 'complete'`,
      [jobId],
    );
    await retain(db.sql, { limit: 100, keyHours: 24 });
    expect(await kindsOf(jobId)).toEqual(['heartbeat']);
  });
});

describe('what a claim tells the log', () => {
  test('S1.19 how long the job had been due', async () => {
    const jobId = await added(db.sql, { queue: 'waited' });
    await db.pool.query(
      `update leasehold.job_state set due_at = clock_timestamp() - interval '90 seconds' where job_id = $1`,
      [jobId],
    );
    await claimed(db.sql, 'waited');
    const { rows } = await db.pool.query<{ waited: string }>(
      `select details ->> 'waited_ms' as waited from leasehold.job_events where job_id = $1 and type = 'claimed'`,
      [jobId],
    );
    expect(rows[0]?.waited).toMatch(/^9\d{4}$/);
  });
});
