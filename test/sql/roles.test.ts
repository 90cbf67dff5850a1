import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const PRODUCER = ['enqueue', 'enqueue_batch', 'new_job_id', 'append_event'];
const WORKER = [
  'begin_effect',
  'claim',
  'complete_and_claim',
  'complete',
  'escalate',
  'fail',
  'heartbeat',
  'record_push',
  'release',
  'settle_effect',
  'snooze',
];
const CONSUMER = ['accept_event', 'aggregate_events', 'events_since', 'park_event', 'parked_event'];
const READER = [
  'aggregate_events',
  'blocked_keys',
  'board_at',
  'due_queues',
  'events_since',
  'get_job',
  'get_outbox_event',
  'get_schedule',
  'job_events_before',
  'job_events_since',
  'job_history',
  'job_queues',
  'last_turn',
  'list_dead_letters',
  'list_escalations',
  'list_jobs',
  'list_outbox_events',
  'list_queues',
  'list_schedules',
  'log_changes',
  'matching_dead_letters',
  'metrics',
  'next_wake',
  'outbox_metrics',
  'outbox_next_due',
  'overview',
  'queue_document',
  'schema_version',
];
const OPERATOR = [
  ...READER,
  'cancel',
  'claim_escalated',
  'configure_queue',
  'delete_schedule',
  'discard',
  'edit_job',
  'note_dead_letter',
  'put_schedule',
  'redrive',
  'replay_events',
  'set_queue_paused',
  'set_schedule_paused',
  'settle_effect',
  'settle_escalated',
  'skip_events',
];
const SERVICE = [
  ...PRODUCER,
  ...WORKER,
  ...CONSUMER,
  ...OPERATOR,
  'begin_request',
  'claim_events',
  'due_schedules',
  'end_request',
  'ensure_partitions',
  'fire_schedule',
  'renew_shard',
  'retain',
  'retain_outbox',
  'settle',
  'settle_events',
  'take_turn',
];

/** Runs statements as a role and gives the connection back as it was. */
async function as<Result>(
  role: string,
  run: (
    query: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>,
  ) => Promise<Result>,
): Promise<Result> {
  const client = await db.pool.connect();
  try {
    await client.query(`set role ${role}`);
    return await run(
      async (text, values) => (await client.query(text, values)).rows as Record<string, unknown>[],
    );
  } finally {
    await client.query('reset role');
    client.release();
  }
}

describe('leasehold.apply_grants', () => {
  test.each([
    ['leasehold_producer', PRODUCER],
    ['leasehold_worker', WORKER],
    ['leasehold_consumer', CONSUMER],
    ['leasehold_reader', READER],
    ['leasehold_operator', OPERATOR],
    ['leasehold_service', SERVICE],
  ])('%s may execute exactly its routines, and touch no table', async (role, routines) => {
    const { rows } = await db.pool.query<{ proname: string }>(
      `select distinct p.proname from pg_proc p
       where p.pronamespace = 'leasehold'::regnamespace and has_function_privilege($1, p.oid, 'execute')`,
      [role],
    );
    expect(rows.map((row) => row.proname).sort()).toEqual([...new Set(routines)].sort());
    const { rows: tables } = await db.pool.query(
      `select c.relname from pg_class c
       where c.relnamespace = 'leasehold'::regnamespace and c.relkind in ('r', 'p', 'v', 'S')
         and case c.relkind
           when 'S' then has_sequence_privilege($1, c.oid, 'usage, select, update')
           else has_table_privilege($1, c.oid, 'select, insert, update, delete, truncate, references, trigger')
         end`,
      [role],
    );
    expect(tables).toEqual([]);
  });

  test('a producer adds a job and can do nothing else with it', async () => {
    await as('leasehold_producer', async (query) => {
      const [row] = await query(
        `select outcome, job_id from leasehold.enqueue(leasehold.new_job_id(), 'roles', 't', '1')`,
      );
      expect(row).toMatchObject({ outcome: 'created' });
      await expect(query('select * from leasehold.jobs')).rejects.toMatchObject({ code: '42501' });
      await expect(query('select leasehold.get_job($1)', [row?.['job_id']])).rejects.toMatchObject({
        code: '42501',
      });
      await expect(
        query(`select leasehold.claim('roles', 'w', $1)`, [uuidv7()]),
      ).rejects.toMatchObject({
        code: '42501',
      });
    });
  });

  test('who only produces appends an event, in a transaction of rows of its own, and reads nothing', async () => {
    await as('leasehold_producer', async (query) => {
      const [row] = await query(
        `select outcome, event_id from leasehold.append_event(leasehold.new_job_id(), 'order', 'roles', 'order.placed', '1')`,
      );
      expect(row).toMatchObject({ outcome: 'appended' });
      for (const text of [
        'select * from leasehold.outbox_events',
        `select * from leasehold.claim_events('r', gen_random_uuid())`,
        `select * from leasehold.skip_events('[]', 'r', 'a')`,
        'select * from leasehold.events_since(null, 1)',
      ]) {
        await expect(query(text)).rejects.toMatchObject({ code: '42501' });
      }
    });
  });

  test('a consumer records events, and can neither publish nor skip any', async () => {
    await as('leasehold_consumer', async (query) => {
      const [row] = await query(`select outcome from leasehold.accept_event('c', 'e1')`);
      expect(row).toEqual({ outcome: 'accepted' });
      for (const text of [
        `select * from leasehold.claim_events('r', gen_random_uuid())`,
        `select * from leasehold.replay_events('[]', 'r', 'a')`,
        `select * from leasehold.append_event(leasehold.new_job_id(), 'order', 'r', 't', '1')`,
      ]) {
        await expect(query(text)).rejects.toMatchObject({ code: '42501' });
      }
    });
  });

  test('a worker claims and completes, and cannot cancel', async () => {
    await as('leasehold_worker', async (query) => {
      const [job] = await query(`select * from leasehold.claim('roles', 'w', $1)`, [uuidv7()]);
      const lease = [job?.['job_id'], 'w', job?.['fencing_token']];
      expect(await query('select outcome from leasehold.heartbeat($1, $2, $3, 1)', lease)).toEqual([
        { outcome: 'held' },
      ]);
      expect(await query('select outcome from leasehold.complete($1, $2, $3)', lease)).toEqual([
        { outcome: 'succeeded' },
      ]);
      await expect(
        query(`select leasehold.cancel($1, 'w')`, [job?.['job_id']]),
      ).rejects.toMatchObject({
        code: '42501',
      });
    });
  });

  test('the service role carries every operation of the product', async () => {
    const { readFileSync, readdirSync } = await import('node:fs');
    const called = ['queue', 'outbox', 'inbox'].flatMap((room) =>
      readdirSync(`shared/${room}`).flatMap((file) =>
        [...readFileSync(`shared/${room}/${file}`, 'utf8').matchAll(/leasehold\.(\w+)\(/g)].map(
          ([, name]) => name,
        ),
      ),
    );
    expect(called.length).toBeGreaterThan(30);
    expect([...new Set(called)].filter((name) => !SERVICE.includes(name ?? ''))).toEqual([]);
  });
});
