import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claim } from '../../shared/queue/claim.ts';
import { complete } from '../../shared/queue/complete.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { heartbeat } from '../../shared/queue/heartbeat.ts';
import { PRIORITIES } from '../../shared/queue/new-job.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, claimed, expireLease } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

async function older(jobId: string, minutes: number): Promise<void> {
  await db.pool.query(
    `update leasehold.job_state set due_at = due_at - make_interval(mins => $2) where job_id = $1`,
    [jobId, minutes],
  );
}

describe('leasehold.claim, which job', () => {
  test('a claim id gives its lease to nobody who names another owner, and one owner nothing from another queue', async () => {
    const first = await added(db.sql, { queue: 'mine' });
    const second = await added(db.sql, { queue: 'mine' });
    const elsewhere = await added(db.sql, { queue: 'theirs' });
    const claimId = uuidv7();
    const ask = { queue: 'mine', owner: 'w', claimId };
    expect(await claim(db.sql, ask)).toMatchObject({ job: { jobId: first } });
    expect(await claim(db.sql, { ...ask, queue: 'theirs' })).toEqual({ outcome: 'empty' });
    expect(await claim(db.sql, { ...ask, owner: 'v' })).toMatchObject({ job: { jobId: second } });
    expect(await claim(db.sql, { ...ask, queue: 'theirs', owner: 'u' })).toMatchObject({
      job: { jobId: elsewhere },
    });
  });

  test('B.3 a claim id repeated after its lease ran out is one new lease, however often it is repeated', async () => {
    // Which of the two the second claim takes is left to chance: often enough it is the fresh one.
    for (let round = 0; round < 20; round += 1) {
      const queue = `repeats ${round}`;
      const crashed = await added(db.sql, { queue });
      for (let at = 0; at < 2; at += 1) await added(db.sql, { queue });
      const ask = { queue, owner: 'w', claimId: uuidv7() };
      await claim(db.sql, ask);
      await expireLease(db.pool, crashed);
      const next = await claim(db.sql, ask);
      const repeat = await claim(db.sql, ask);
      const idOf = (taken: typeof next): string | undefined =>
        taken.outcome === 'claimed' ? taken.job.jobId : undefined;
      expect(idOf(repeat)).toBe(idOf(next));
    }
  });

  test.each([
    ['urgent', 'high'],
    ['high', 'normal'],
    ['normal', 'low'],
  ] as const)('%s goes before %s until the latter is five minutes older', async (upper, lower) => {
    for (const [minutes, wins] of [
      [4, upper],
      [6, lower],
    ] as const) {
      const queue = `${upper} or ${lower}, ${minutes}`;
      await added(db.sql, { queue, priority: upper });
      await older(await added(db.sql, { queue, priority: lower }), minutes);
      expect((await claimed(db.sql, queue)).priority).toBe(wins);
    }
  });

  test('a call buries eight leases at most and leaves the rest to the next', async () => {
    const jobs = [];
    for (let at = 0; at < 10; at += 1) {
      jobs.push(await added(db.sql, { queue: 'graves', maxAttempts: 1 }));
      await claimed(db.sql, 'graves');
    }
    for (const jobId of jobs) await expireLease(db.pool, jobId);
    for (const dead of [8, 10]) {
      const ask = { queue: 'graves', owner: 'w', claimId: uuidv7() };
      expect(await claim(db.sql, ask)).toEqual({ outcome: 'empty' });
      const { rows } = await db.pool.query(
        `select count(*)::int as dead from leasehold.dead_letters where queue = 'graves'`,
      );
      expect(rows).toEqual([{ dead }]);
    }
  });

  test('a new attempt starts without the steps and the marker of the one before', async () => {
    const jobId = await added(db.sql, { queue: 'fresh' });
    const dying = await claimed(db.sql, 'fresh');
    await heartbeat(db.sql, { ...dying, step: 5, progress: 'half' });
    await expireLease(db.pool, jobId);
    const next = await claimed(db.sql, 'fresh');
    expect((await getJob(db.sql, { jobId }))?.lease?.progress).toBeNull();
    const beat = await heartbeat(db.sql, { ...next, step: 1, leaseSeconds: 600 });
    expect(beat.outcome === 'held' && beat.leaseRemainingMs).toBeGreaterThan(500_000);
  });
});

describe('leasehold.claim, more_due', () => {
  test('says that a job waits behind, in its own lane', async () => {
    await added(db.sql, { queue: 'behind' });
    await added(db.sql, { queue: 'behind' });
    expect((await claimed(db.sql, 'behind')).moreDue).toBe(true);
    expect((await claimed(db.sql, 'behind')).moreDue).toBe(false);
  });

  test.each(PRIORITIES)('says that a job waits beside, %s', async (priority) => {
    const queue = `beside ${priority}`;
    const taken = await added(db.sql, { queue, priority: priority === 'low' ? 'normal' : 'low' });
    await older(taken, 60);
    await added(db.sql, { queue, priority });
    const job = await claimed(db.sql, queue);
    expect(job).toMatchObject({ jobId: taken, moreDue: true });
    expect(await complete(db.sql, job)).toEqual({ outcome: 'succeeded', moreDue: true });
  });

  test('says that a crashed job waits', async () => {
    const queue = 'beside a crash';
    const crashed = await added(db.sql, { queue });
    await claimed(db.sql, queue);
    await expireLease(db.pool, crashed);
    await added(db.sql, { queue });
    expect((await claimed(db.sql, queue)).moreDue).toBe(true);
  });
});
