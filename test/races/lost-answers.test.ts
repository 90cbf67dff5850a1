import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Fault } from '../../infra/local/sql-endpoint/faults.ts';
import { claim } from '../../shared/queue/claim.ts';
import { completeAndClaim } from '../../shared/queue/complete-and-claim.ts';
import { complete } from '../../shared/queue/complete.ts';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';
import { enqueue } from '../../shared/queue/enqueue.ts';
import { fail } from '../../shared/queue/fail.ts';
import { heartbeat } from '../../shared/queue/heartbeat.ts';
import { added, claimed, eventTypes, newJob, snapshot } from '../sql/support/lease-core.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createHttpSql, type HttpSql } from '../support/http-sql.ts';

let db: TestDatabase;
let http: HttpSql;
beforeAll(async () => {
  db = await createTestDatabase();
  http = await createHttpSql(db);
});
afterAll(async () => {
  await http.close();
  await db.drop();
});

const error = { code: 'timeout', message: 'No answer.' };

/** After each of these the caller cannot know whether its write was committed; after the last two it was not. */
const FAULTS: readonly Fault[] = [
  { kind: 'drop_after_commit' },
  { kind: 'truncate' },
  { kind: 'drop_before' },
  { kind: 'status', status: 500 },
];

describe.each(FAULTS)('B.3 the answer is lost ($kind)', (fault) => {
  const queue = `lost ${fault.kind}`;
  const lose = async (routine: string): Promise<void> => {
    const { fired } = http.endpoint.faults.next(fault, {
      match: new RegExp(`leasehold\\.${routine}\\(`),
    });
    await fired;
  };

  test('enqueue: one job, one event, the same answer as a calm repeat', async () => {
    const job = newJob({ queue: `${queue} enqueue` });
    const hit = lose('enqueue_batch');
    const first = await enqueue(http.sql, { job, actor: 'shop' });
    await hit;
    const calm = await enqueue(http.sql, { job, actor: 'shop' });
    expect({ ...calm, outcome: first.outcome }).toEqual(first);
    expect(await eventTypes(db.pool, job.id)).toEqual(['created']);
  });

  test('enqueue of a batch: every job once', async () => {
    const jobs = Array.from({ length: 20 }, () => newJob({ queue: `${queue} batch` }));
    const hit = lose('enqueue_batch');
    const all = await enqueueBatch(http.sql, { jobs, actor: 'shop' });
    await hit;
    expect(all.map((one) => one.jobId)).toEqual(jobs.map((one) => one.id));
    const { rows } = await db.pool.query(
      'select count(*)::int as n from leasehold.job_state where queue = $1',
      [`${queue} batch`],
    );
    expect(rows).toEqual([{ n: 20 }]);
  });

  test('claim: the same lease, and no attempt wasted', async () => {
    const jobId = await added(db.sql, { queue: `${queue} claim` });
    await added(db.sql, { queue: `${queue} claim` });
    const hit = lose('claim');
    const taken = await claim(http.sql, { queue: `${queue} claim`, owner: 'w', claimId: uuidv7() });
    await hit;
    expect(taken).toMatchObject({ job: { jobId, attempt: 1, fencingToken: '1' } });
    const { rows } = await db.pool.query(
      'select count(*)::int as n from leasehold.job_state where queue = $1 and lane = 0',
      [`${queue} claim`],
    );
    expect(rows).toEqual([{ n: 1 }]);
    expect(await eventTypes(db.pool, jobId)).toEqual(['created', 'claimed']);
  });

  test('heartbeat: held, renewed once', async () => {
    const jobId = await added(db.sql, { queue: `${queue} beat` });
    const job = await claimed(db.sql, `${queue} beat`);
    const hit = lose('heartbeat');
    const beat = await heartbeat(http.sql, { ...job, step: 1, progress: 'half' });
    await hit;
    expect(beat.outcome).toBe('held');
    expect(await eventTypes(db.pool, jobId)).toEqual(['created', 'claimed', 'progressed']);
  });

  test('complete: succeeded, once', async () => {
    const jobId = await added(db.sql, { queue: `${queue} complete` });
    const job = await claimed(db.sql, `${queue} complete`);
    const hit = lose('complete');
    expect((await complete(http.sql, { ...job, result: 1 })).outcome).toBe('succeeded');
    await hit;
    expect(await eventTypes(db.pool, jobId)).toEqual(['created', 'claimed', 'completed']);
    const after = await snapshot(db.pool, jobId);
    await complete(http.sql, { ...job, result: 2 });
    expect(await snapshot(db.pool, jobId)).toBe(after);
  });

  test('complete and claim: succeeded, once, and one next lease', async () => {
    const own = `${queue} fused`;
    const ids = [];
    for (let i = 0; i < 3; i += 1) ids.push(await added(db.sql, { queue: own }));
    const job = await claimed(db.sql, own);
    const hit = lose('complete_and_claim');
    const end = await completeAndClaim(http.sql, { ...job, queue: own, claimId: uuidv7() });
    await hit;
    expect(end).toMatchObject({
      outcome: 'succeeded',
      next: { jobId: ids[1], attempt: 1, fencingToken: '1' },
    });
    const types = await Promise.all(ids.map((id) => eventTypes(db.pool, id)));
    expect(types).toEqual([
      ['created', 'claimed', 'completed'],
      ['created', 'claimed'],
      ['created'],
    ]);
  });

  test.each([true, false])(
    'fail (retryable: %s): one failure on record, the same answer',
    async (retryable) => {
      const own = `${queue} fail ${retryable}`;
      const jobId = await added(db.sql, { queue: own });
      const job = await claimed(db.sql, own);
      const hit = lose('fail');
      const first = await fail(http.sql, {
        ...job,
        error,
        failureClass: retryable ? 'transient' : 'permanent',
      });
      await hit;
      expect(first.outcome).toBe(retryable ? 'pending' : 'dead');
      const calm = await fail(http.sql, {
        ...job,
        error,
        failureClass: retryable ? 'transient' : 'permanent',
      });
      expect({ ...calm, moreDue: false }).toEqual({ ...first, moreDue: false });
      const types = ['created', 'claimed', 'failed', ...(retryable ? [] : ['dead'])];
      expect(await eventTypes(db.pool, jobId)).toEqual(types);
    },
  );
});

describe('B.3 a repeat that overtakes its first call', () => {
  test('two calls with one claim id at once give one lease', async () => {
    await added(db.sql, { queue: 'overtaken' });
    await added(db.sql, { queue: 'overtaken' });
    const claimId = uuidv7();
    const first = await db.pool.connect();
    const second = await db.pool.connect();
    const call = `select job_id, fencing_token from leasehold.claim('overtaken', 'w', $1)`;
    try {
      await first.query('begin');
      const a = await first.query(call, [claimId]);
      const b = second.query(call, [claimId]);
      await first.query('commit');
      expect((await b).rows).toEqual(a.rows);
    } finally {
      first.release();
      second.release();
    }
  });
});

describe('case F5 serialization failures, deadlocks and lock timeouts', () => {
  test.each(['40001', '40P01', '55P03'])(
    '%s once is retried inside and costs no attempt',
    async (code) => {
      const queue = `f5 ${code}`;
      const arm = (): unknown => http.endpoint.faults.next({ kind: 'sql_error', code });
      const job = newJob({ queue });
      arm();
      await enqueue(http.sql, { job, actor: 'shop' });
      arm();
      const taken = await claim(http.sql, { queue, owner: 'w', claimId: uuidv7() });
      if (taken.outcome === 'empty') throw new Error('nothing claimed');
      const lease = { ...taken.job, owner: 'w' };
      arm();
      expect((await heartbeat(http.sql, { ...lease, step: 1 })).outcome).toBe('held');
      arm();
      expect((await complete(http.sql, lease)).outcome).toBe('succeeded');
      expect(await eventTypes(db.pool, job.id)).toEqual([
        'created',
        'claimed',
        'heartbeat',
        'completed',
      ]);
    },
  );

  test('beyond the bound the caller gets a retryable error, and the job is as it was', async () => {
    const jobId = await added(db.sql, { queue: 'f5 bound' });
    const before = await snapshot(db.pool, jobId);
    http.endpoint.faults.next({ kind: 'sql_error', code: '40001' }, { times: 100 });
    await expect(
      claim(http.sql, { queue: 'f5 bound', owner: 'w', claimId: uuidv7() }),
    ).rejects.toMatchObject({
      code: 'database_unavailable',
      retryAfterSeconds: expect.any(Number) as number,
    });
    http.endpoint.faults.clear();
    expect(await snapshot(db.pool, jobId)).toBe(before);
  });
});
