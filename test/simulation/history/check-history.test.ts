import { uuidv7 } from 'uuidv7';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { appendEvent } from '../../../shared/outbox/append-event.ts';
import { claimEvents } from '../../../shared/outbox/claim-events.ts';
import { settleEvents } from '../../../shared/outbox/settle-events.ts';
import { beginEffect } from '../../../shared/queue/begin-effect.ts';
import { cancel } from '../../../shared/queue/cancel.ts';
import { claimEscalated } from '../../../shared/queue/claim-escalated.ts';
import { claim } from '../../../shared/queue/claim.ts';
import type { ClaimedJob } from '../../../shared/queue/claimed-job.ts';
import { complete } from '../../../shared/queue/complete.ts';
import { configureQueue } from '../../../shared/queue/configure-queue.ts';
import { enqueue } from '../../../shared/queue/enqueue.ts';
import { escalate } from '../../../shared/queue/escalate.ts';
import { fail } from '../../../shared/queue/fail.ts';
import { heartbeat } from '../../../shared/queue/heartbeat.ts';
import type { NewJob } from '../../../shared/queue/new-job.ts';
import { redrive } from '../../../shared/queue/redrive.ts';
import { settleEffect } from '../../../shared/queue/settle-effect.ts';
import { settleEscalated } from '../../../shared/queue/settle-escalated.ts';
import { snooze } from '../../../shared/queue/snooze.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { checkHistory, type HistoryOptions } from './check-history.ts';
import { BROKEN } from './broken-histories.ts';
import { HISTORY_RULES } from './report.ts';

/** As broken-histories.ts names them. */
const OWNER = 'worker';
const QUEUE = 'history';
/** Whose jobs end with people. */
const ASKING = 'asking';

let db: TestDatabase;
/** Jobs by what became of them. */
const ids: Record<string, string> = {};
const options: HistoryOptions = {
  jobEffects: 'select job_id, fencing_token from app.job_effects',
  eventEffects:
    'select consumer, sender, event_id, aggregate, version, at as applied_order from app.event_effects',
};

beforeAll(async () => {
  db = await createTestDatabase();
  await db.pool.query(`
    create schema app;
    create table app.job_effects (job_id uuid, fencing_token bigint);
    create table app.event_effects (at bigint generated always as identity,
      consumer text, sender text, event_id uuid, aggregate text, version bigint)`);
  await makeHistory();
  // What a test breaks is put back after it; this is what it is put back to.
  await db.pool.query('create schema kept');
  for (const table of TABLES) {
    await db.pool.query(`create table kept.${table} as table leasehold.${table}`);
  }
  await db.pool.query('create table kept.job_effects as table app.job_effects');
});
afterEach(async () => {
  for (const table of TABLES) {
    await withoutTriggers(
      `delete from leasehold.${table}; insert into leasehold.${table} select * from kept.${table}`,
    );
  }
  await db.pool.query(
    'delete from app.job_effects; insert into app.job_effects table kept.job_effects; delete from app.event_effects',
  );
});
afterAll(() => db.drop());

describe('the history checker', () => {
  test('finds nothing wrong with a sound history, and counts it', async () => {
    const accepted = Object.values(ids);
    const report = await checkHistory(db.pool, { ...options, accepted });
    expect(report.faults).toEqual([]);
    expect(report).toMatchObject({
      jobs: 10,
      live: 4,
      dead: 0,
      escalated: 2,
      succeeded: 3,
      cancelled: 1,
      claims: 11,
      holds: 2,
      attempts: 11,
      appended: 3,
      published: 3,
    });
  });

  test('reads more rows than a page', async () => {
    await db.pool.query(
      `insert into leasehold.jobs select (kept.j).* from (
         select jsonb_populate_record(j, jsonb_build_object('id', leasehold.new_job_id())) as j
         from leasehold.jobs j, generate_series(1, 5000) where j.id = $1) kept`,
      [ids['waiting']],
    );
    const { jobs, faultCount, faults } = await checkHistory(db.pool, { mostFaults: 3 });
    expect([jobs, faultCount, faults.length]).toEqual([5010, 5000, 3]);
  });

  test.each(BROKEN)('%s: sees %s', async (rule, _, broken) => {
    await withoutTriggers(
      broken.replaceAll(/\$([a-z]+)/g, (_match, name: string) => ids[name] ?? name),
    );
    const { faults } = await checkHistory(db.pool, {
      ...options,
      accepted: Object.values(ids),
      drained: rule === 'nothing_left_behind',
    });
    expect(faults.map((fault) => fault.rule)).toContain(rule);
  });

  test('knows that a queue has not always escalated', async () => {
    await withoutTriggers(
      `update leasehold.jobs set escalate_after = 1 where id = '${ids['decided']}'`,
    );
    const faultsWith = async (escalatesSince: Date): Promise<unknown> =>
      (await checkHistory(db.pool, { ...options, escalatesSince })).faults;
    expect(await faultsWith(new Date(0))).toMatchObject([{ rule: 'attempt_budget' }]);
    expect(await faultsWith(new Date(Date.now() + 60_000))).toEqual([]);
  });

  test('has a broken history for every rule', () => {
    expect(new Set(BROKEN.map(([rule]) => rule))).toEqual(new Set(Object.keys(HISTORY_RULES)));
  });
});

const TABLES = [
  'jobs',
  'job_state',
  'dead_letters',
  'finished_jobs',
  'attempts',
  'job_events',
  'outbox_events',
  'outbox_published',
] as const;

/** The log refuses changes. */
async function withoutTriggers(statements: string): Promise<void> {
  await db.pool.query(`begin; set local session_replication_role = replica; ${statements}; commit`);
}

async function makeHistory(): Promise<void> {
  const { sql } = db;
  const settings = { backoff_base_ms: 0, lease_seconds: 60 };
  await configureQueue(sql, { queue: QUEUE, settings, actor: 'op' });
  const add = async (name: string, job: Partial<NewJob> = {}): Promise<void> => {
    ids[name] = uuidv7();
    const full = { id: ids[name], queue: QUEUE, type: 't', payload: name, ...job };
    await enqueue(sql, { job: full, actor: 'producer' });
  };
  const take = async (queue = QUEUE): Promise<ClaimedJob & { owner: string }> => {
    const taken = await claim(sql, { queue, owner: OWNER, claimId: uuidv7() });
    if (taken.outcome === 'empty') throw new Error('nothing to claim');
    return { ...taken.job, owner: OWNER };
  };

  await add('done', { maxAttempts: 3 });
  const error = { code: 'x', message: 'M.', fencing_token: '1' };
  await fail(sql, { ...(await take()), error, failureClass: 'permanent' });
  await redrive(sql, { jobIds: [ids['done'] ?? ''], reason: 'again', actor: 'op' });
  const lease = await take();
  await heartbeat(sql, { ...lease, step: 1, progress: 'token 2: half' });
  await beginEffect(sql, { ...lease, key: 'mail' });
  await settleEffect(sql, {
    jobId: lease.jobId,
    key: 'mail',
    state: 'done',
    actor: OWNER,
    fencingToken: lease.fencingToken,
  });
  await complete(sql, { ...lease, result: { fencing_token: lease.fencingToken } });
  await db.pool.query('insert into app.job_effects values ($1, $2)', [
    lease.jobId,
    lease.fencingToken,
  ]);

  await add('cancelled');
  const calledOff = await take();
  await cancel(sql, { jobId: calledOff.jobId, actor: 'op', reason: 'r' });
  await complete(sql, calledOff);
  await add('snoozed');
  await fail(sql, {
    ...(await take()),
    error: { code: 'x', message: 'M.' },
    failureClass: 'transient',
  });
  await snooze(sql, { ...(await take()), delayMs: 1 });
  await db.pool.query('select pg_sleep(0.002)');
  await complete(sql, await take());
  await add('running');
  await take();
  await add('first', { orderingKey: 'k', dedupKey: 'one' });
  await add('second', { orderingKey: 'k' });
  await add('waiting');

  await configureQueue(sql, {
    queue: ASKING,
    settings: { ...settings, on_exhausted: 'escalate', escalate_after: 2 },
    actor: 'op',
  });
  for (const name of ['asked', 'held', 'decided']) await add(name, { queue: ASKING });
  const question = 'token 1 asks';
  await escalate(sql, { ...(await take(ASKING)), question });
  await escalate(sql, { ...(await take(ASKING)), question });
  const failed = { error: { code: 'x', message: 'M.' }, failureClass: 'transient' } as const;
  await fail(sql, { ...(await take(ASKING)), ...failed });
  await fail(sql, { ...(await take(ASKING)), ...failed });
  const byHand = async (name: string): Promise<{ jobId: string; fencingToken: string }> => {
    const person = { owner: OWNER, claimId: uuidv7(), jobId: ids[name] ?? '' };
    const hold = await claimEscalated(sql, person);
    if (hold === undefined) throw new Error('nothing escalated');
    return { ...hold };
  };
  await byHand('held');
  const decided = { ...(await byHand('decided')), owner: OWNER };
  const result = { fencing_token: decided.fencingToken };
  await settleEscalated(sql, { ...decided, action: 'complete', result });

  for (let version = 1; version <= 3; version += 1) {
    const event = { id: uuidv7(), aggregateType: 'order', aggregateId: '1', type: 'e' };
    await appendEvent(sql, { event, actor: 'producer' });
    const relay = { owner: 'relay', claimId: uuidv7(), leaseSeconds: 30, limit: 10 };
    const batch = await claimEvents(sql, relay);
    if (batch === undefined) throw new Error('no event');
    const results = batch.events.map(({ id }) => ({ id, outcome: 'published' as const }));
    await settleEvents(sql, {
      lease: batch.lease,
      results,
      more: false,
      leaseSeconds: 30,
      maxAttempts: 3,
    });
  }
}
