/** Neon's driver over HTTP: a transaction is one batch, and the answer to it can be lost. */
import { neon } from '@neondatabase/serverless';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { getJob } from '../../shared/queue/get-job.ts';
import { commitOnce, type CommitOutcome } from '../../shared/transaction/commit-once.ts';
import {
  completeStatement,
  readCompleted,
  type CompletedJob,
} from '../../shared/transaction/complete-in-transaction.ts';
import { enqueueStatement, readEnqueued } from '../../shared/transaction/enqueue-in-transaction.ts';
import { neonQuery } from '../../shared/transaction/neon-query.ts';
import { officialDriver, type OfficialDriver } from '../endpoint/support/official-driver.ts';
import { claimed, expireLease, newJob } from '../sql/support/lease-core.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { heldLease, type HeldLease } from './support/held-lease.ts';
import { createNotes, notes } from './support/notes.ts';

const ACTOR = { actor: 'shop' };

let db: TestDatabase;
let driver: OfficialDriver;
beforeAll(async () => {
  db = await createTestDatabase();
  driver = await officialDriver(db);
  await createNotes(db.pool);
});
beforeEach(() => db.pool.query('truncate notes'));
afterAll(async () => {
  await driver.close();
  await db.drop();
});

describe('a batch over HTTP', () => {
  test('commits the job with the row of the caller', async () => {
    const { sql } = driver;
    const jobs = [newJob({ payload: [[], '1', { a: [1] }] }), newJob({ delayMs: 1_000 })];
    const [, rows] = await sql.transaction([
      sql`insert into notes (note) values ('order')`,
      neonQuery(sql, enqueueStatement(jobs, ACTOR)),
    ]);
    expect(readEnqueued(rows).map(({ jobId, outcome }) => [jobId, outcome])).toEqual(
      jobs.map(({ id }) => [id, 'created']),
    );
    expect(await getJob(db.sql, { jobId: jobs[0]?.id ?? '' })).toMatchObject({
      payload: [[], '1', { a: [1] }],
    });
    expect(await notes(db.pool)).toEqual(['order']);
  });

  test('rolls both back, whichever fails', async () => {
    const { sql } = driver;
    const job = newJob();
    const failing = sql.transaction([
      neonQuery(sql, enqueueStatement([job], ACTOR)),
      sql`insert into notes (note) values (null)`,
    ]);
    await expect(failing).rejects.toMatchObject({ code: '23502' });
    expect(await getJob(db.sql, { jobId: job.id })).toBeUndefined();
    const refused = sql.transaction([
      sql`insert into notes (note) values ('order')`,
      neonQuery(sql, enqueueStatement([newJob({ id: 'x' })], ACTOR)),
    ]);
    await expect(refused).rejects.toMatchObject({ name: 'NeonDbError' });
    expect(await notes(db.pool)).toEqual([]);
  });

  test('reads the answer in every form that the driver may be set to', async () => {
    const batch = enqueueStatement([newJob({ delayMs: 5_000 }), newJob()], ACTOR);
    const url = driver.connectionString;
    const objects = neon(url);
    const lists = neon(url, { arrayMode: true });
    const full = neon(url, { fullResults: true });
    const fullLists = neon(url, { arrayMode: true, fullResults: true });
    const forms = [
      readEnqueued((await objects.transaction([neonQuery(objects, batch)]))[0]),
      readEnqueued((await lists.transaction([neonQuery(lists, batch)]))[0]),
      readEnqueued((await full.transaction([neonQuery(full, batch)]))[0]),
      readEnqueued((await fullLists.transaction([neonQuery(fullLists, batch)]))[0]),
    ];
    const [first] = forms;
    expect(first?.map(({ outcome }) => outcome)).toEqual(['created', 'created']);
    const again = first?.map((job) => ({ ...job, outcome: 'exists' }));
    expect(forms.slice(1)).toEqual([again, again, again]);
  });
});

describe('completion in a batch over HTTP', () => {
  test('a lost answer: the repeat is told, and the writes are there once', async () => {
    for (const kind of ['drop_after_commit', 'truncate'] as const) {
      const lease = await heldLease(db.sql);
      const { fired } = driver.endpoint.faults.next({ kind }, { match: /leasehold\.complete/ });
      await expect(once(lease, kind)).rejects.toMatchObject({ name: /Error/ });
      await fired;
      expect(await once(lease, kind)).toEqual({ outcome: 'already_committed' });
      expect(await getJob(db.sql, { jobId: lease.jobId })).toMatchObject({ state: 'succeeded' });
    }
    expect(await notes(db.pool)).toEqual(['drop_after_commit', 'truncate']);
  });

  test('a request that never arrived: the repeat does it', async () => {
    const lease = await heldLease(db.sql);
    driver.endpoint.faults.next({ kind: 'drop_before' }, { match: /leasehold\.complete/ });
    await expect(once(lease, 'work')).rejects.toMatchObject({ name: /Error/ });
    expect(await notes(db.pool)).toEqual([]);
    expect(await once(lease, 'work')).toEqual({
      outcome: 'committed',
      value: { outcome: 'succeeded', moreDue: false },
    });
    expect(await notes(db.pool)).toEqual(['work']);
  });

  test('a stale worker is rolled back; the one that holds the job commits', async () => {
    const stale = await heldLease(db.sql);
    await expireLease(db.pool, stale.jobId);
    const current = await claimed(db.sql, stale.queue, 'worker-b');
    expect(await once(stale, 'stale')).toEqual({ outcome: 'lease_lost' });
    expect(await once(current, 'current')).toMatchObject({ outcome: 'committed' });
    expect(await notes(db.pool)).toEqual(['current']);
  });
});

async function once(lease: HeldLease, note: string): Promise<CommitOutcome<CompletedJob>> {
  const { sql } = driver;
  return await commitOnce(async () => {
    const [, rows] = await sql.transaction([
      sql`insert into notes (note) values (${note})`,
      neonQuery(sql, completeStatement(lease)),
    ]);
    return readCompleted(rows);
  });
}
