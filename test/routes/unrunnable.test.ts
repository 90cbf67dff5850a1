import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { drain } from '../../functions/scheduled/drain.ts';
import { MAX_UNRUNNABLE_PER_WORK } from '../../shared/limits.ts';
import type { Sql } from '../../shared/ports.ts';
import { claimed, expireLease } from '../sql/support/lease-core.ts';
import { afterStatement, clockAhead, enqueued, fine, worked } from './support/counted-work.ts';
import { createScriptedWork } from './support/scripted-work.ts';
import type { ScriptedWork } from './support/scripted-work.ts';

let scripted: ScriptedWork;
beforeAll(async () => {
  scripted = await createScriptedWork();
});
afterAll(() => scripted.app.close());
beforeEach(() => scripted.reset());

/** A job put there by SQL, past the checks of the API. */
async function inserted(
  queue: string,
  type: string,
  payload: unknown,
  schemaVersion = 1,
): Promise<string> {
  const { rows } = await scripted.app.database.pool.query<{ job_id: string }>(
    `select job_id from leasehold.enqueue(leasehold.new_job_id(), $1, $2, $3, p_schema_version => $4)`,
    [queue, type, JSON.stringify(payload), schemaVersion],
  );
  return rows[0]?.job_id ?? '';
}

describe('case G5 a stored job that no handler can run', () => {
  test('is dead at once with a clear reason and no handler call, and healthy work behind it is served in the same call', async () => {
    let runs = 0;
    scripted.behaviours.set('fine', () => (runs += 1));
    const bad = [
      await inserted('scripted', 'run', { behaviour: 7 }),
      await inserted('scripted', 'run', null),
      await inserted('scripted', 'nobody knows', { behaviour: 'fine' }),
    ];
    const healthy = await scripted.enqueue('fine');
    const { body } = await scripted.work();
    expect(body).toMatchObject({ outcome: 'succeeded', job_id: healthy });
    expect(runs).toBe(1);
    const reasons = [];
    for (const id of bad) {
      const job = await scripted.job(id);
      expect(job).toMatchObject({
        state: 'dead',
        attempt: 1,
        dead: { reason: 'permanent_failure' },
      });
      reasons.push((job['dead'] as { error: { code: string } }).error.code);
    }
    expect(reasons).toEqual(['invalid_payload', 'invalid_payload', 'unknown_type']);
  });

  test('one call buries a bounded number of them, and pokes on for the rest', async () => {
    for (let i = 0; i < MAX_UNRUNNABLE_PER_WORK + 3; i += 1)
      await inserted('scripted', 'nobody knows', i);
    const { body } = await scripted.work();
    expect(body).toMatchObject({ outcome: 'dead', code: 'unknown_type', more_due: true });
    const { rows } = await scripted.app.database.pool.query(
      `select count(*)::int as left_over from leasehold.job_state where queue = 'scripted'`,
    );
    expect(rows).toEqual([{ left_over: 2 }]);
    await scripted.app.backgroundDone();
    expect(scripted.app.pokes.filter(({ depth }) => depth === 1)).toHaveLength(1);
  });

  test('leasehold.bury_orphans: jobs of a deleted queue are dead with that reason, and no claim loops over them', async () => {
    const ids = [];
    for (let i = 0; i < 10; i += 1) ids.push(await inserted('deleted', 'run', i));
    const { pool } = scripted.app.database;
    await claimed(scripted.app.database.sql, 'deleted');
    await expireLease(pool, ids[0] ?? '');
    await pool.query(`delete from leasehold.queues where name = 'deleted'`);
    for (const left of [2, 0]) {
      const { rows: none } = await pool.query(
        `select * from leasehold.claim('deleted', 'w', gen_random_uuid())`,
      );
      expect(none).toEqual([]);
      const { rows } = await pool.query(
        `select count(*)::int as left_over from leasehold.job_state where queue = 'deleted'`,
      );
      expect(rows).toEqual([{ left_over: left }]);
    }
    for (const id of ids) {
      expect(await scripted.job(id)).toMatchObject({
        state: 'dead',
        dead: { reason: 'queue_deleted' },
      });
    }
  });
});

describe('case G5 jobs that no handler can run, among others', () => {
  test('are buried on the way and counted, and take no place of those that run', async () => {
    scripted.behaviours.set('fine', () => undefined);
    const config = { ...scripted.app.deps().config, jobsPerInvocation: 4 };
    await enqueued(scripted, ['fine']);
    await unknown(3);
    await enqueued(scripted, fine(3));
    const { body } = await worked(scripted, { config });
    expect(body).toMatchObject({ outcome: 'succeeded', jobs_run: 4, jobs_buried: 3 });
  });

  test('and nothing else: the answer says so, and pokes on when time ran out before the rest', async () => {
    const time = clockAhead();
    const slow = afterStatement(scripted, 'fail', () => time.put(29_000));
    await unknown(2);
    const { body } = await worked(scripted, { clock: time.clock, sql: slow });
    expect(body).toMatchObject({
      outcome: 'dead',
      code: 'unknown_type',
      jobs_run: 0,
      jobs_buried: 1,
      more_due: true,
    });
    expect(scripted.app.pokes).toEqual([{ queue: 'scripted', depth: 1 }]);
  });

  test('nor does it poke on when others took the rest', async () => {
    const { sql } = scripted.app.deps();
    let claims = 0;
    const raced: Sql = {
      query: async (text, values, options) => {
        if (text.includes('leasehold.claim(') && ++claims === 2) return [];
        return await sql.query<never>(text, values, options);
      },
    };
    await unknown(2);
    const { body } = await worked(scripted, { sql: raced });
    expect(body).toMatchObject({ outcome: 'dead', jobs_buried: 1, more_due: false });
    expect(scripted.app.pokes).toEqual([]);
  });

  async function unknown(count: number): Promise<void> {
    for (let at = 0; at < count; at += 1) await inserted('scripted', 'nobody knows', at);
  }
});

describe('case C7 a deployment that knows neither the queue nor the type', () => {
  test('its drain puts an expired lease back under the limits on its row, and discards no type it has never heard of', async () => {
    const { pool, sql } = scripted.app.database;
    const known = await inserted('elsewhere', 'type b', { kept: true });
    const unknown = await inserted('elsewhere', 'registered by nobody', { kept: true });
    await pool.query(`update leasehold.job_state set max_attempts = 2 where job_id = $1`, [known]);
    await claimed(sql, 'elsewhere');
    await claimed(sql, 'elsewhere');
    await expireLease(pool, known);
    await expireLease(pool, unknown);
    expect(await drain(scripted.app.deps())).toMatchObject({ settled: 2, pokes: 0 });
    for (const id of [known, unknown]) {
      expect(await scripted.job(id)).toMatchObject({
        state: 'pending',
        attempt: 1,
        payload: { kept: true },
      });
    }
    // Only the row says when it is enough.
    await claimed(sql, 'elsewhere');
    await claimed(sql, 'elsewhere');
    await expireLease(pool, known);
    await expireLease(pool, unknown);
    await drain(scripted.app.deps());
    expect(await scripted.job(known)).toMatchObject({
      state: 'dead',
      dead: { reason: 'lease_expired' },
    });
    expect(await scripted.job(unknown)).toMatchObject({ state: 'pending', attempt: 2 });
  });
});
