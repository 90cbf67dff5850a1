/** The board at a past moment: what the log says about then is what the board showed then. */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { boardAt } from '../../shared/queue/board-at.ts';
import type { PastJob } from '../../shared/queue/board-at.ts';
import { cancel } from '../../shared/queue/cancel.ts';
import { claimEscalated } from '../../shared/queue/claim-escalated.ts';
import type { ClaimedJob } from '../../shared/queue/claimed-job.ts';
import { complete } from '../../shared/queue/complete.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { discard } from '../../shared/queue/discard.ts';
import { escalate } from '../../shared/queue/escalate.ts';
import { fail } from '../../shared/queue/fail.ts';
import type { FailureClass } from '../../shared/queue/failure-class.ts';
import { heartbeat } from '../../shared/queue/heartbeat.ts';
import type { JobSummary } from '../../shared/queue/job.ts';
import type { Lease } from '../../shared/queue/lease.ts';
import { listJobs } from '../../shared/queue/list-jobs.ts';
import { redrive } from '../../shared/queue/redrive.ts';
import { release } from '../../shared/queue/release.ts';
import { setQueuePaused } from '../../shared/queue/set-queue-paused.ts';
import { settleEscalated } from '../../shared/queue/settle-escalated.ts';
import { snooze } from '../../shared/queue/snooze.ts';
import { added, claimed, makeDue } from '../sql/support/lease-core.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const QUEUE = 'past';
const AGENT = 'agent';
const PERSON = 'maria';

/** What past and present board have in common. */
interface Seen {
  readonly id: string;
  readonly state: string;
  readonly attempt: number;
  readonly owner: string | null;
  readonly progress: string | null;
}

function present(job: JobSummary): Seen {
  return {
    id: job.id,
    state: job.state,
    attempt: job.attempt,
    owner: job.lease?.owner ?? job.escalated?.held_by ?? null,
    progress: job.lease?.progress ?? null,
  };
}

function past({ id, state, attempt, owner, progress }: PastJob): Seen {
  return { id, state, attempt, owner, progress };
}

interface Moment {
  readonly at: string;
  readonly step: string;
  readonly jobs: readonly Seen[];
}

/** Now, by the clock of the database, and the board as it shows itself. */
async function moment(step: string): Promise<Moment> {
  const { jobs } = await listJobs(db.sql, { queue: QUEUE, limit: 200 });
  const { rows } = await db.pool.query<{ at: string }>(
    `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`,
  );
  return { at: rows[0]?.at ?? '', step, jobs: jobs.map(present) };
}

async function failed(lease: ClaimedJob & Lease, failureClass: FailureClass): Promise<void> {
  await fail(db.sql, { ...lease, failureClass, error: { code: 'broken', message: 'It broke.' } });
}

describe('leasehold.board_at, from leasehold.past_job_document and leasehold.past_queues', () => {
  test('S2.6 the board at each past moment is the board that it was', async () => {
    await configureQueue(db.sql, {
      queue: QUEUE,
      settings: { on_exhausted: 'escalate', escalate_after: 2, lease_seconds: 600 },
      actor: 'test',
    });
    const moments: Moment[] = [];
    const step = async (name: string, run: () => Promise<unknown>): Promise<void> => {
      await run();
      moments.push(await moment(name));
    };
    let lease: ClaimedJob & Lease;
    const claims = async (): Promise<void> => {
      lease = await claimed(db.sql, QUEUE, AGENT);
    };
    let hold: Lease;
    const takes = async (jobId: string): Promise<void> => {
      const held = await claimEscalated(db.sql, { owner: PERSON, claimId: uuidv7(), jobId });
      hold = { jobId, owner: PERSON, fencingToken: held?.fencingToken ?? '' };
    };

    let first = '';
    await step('created', async () => (first = await added(db.sql, { queue: QUEUE })));
    await step('claimed', claims);
    await step('a heartbeat', () => heartbeat(db.sql, { ...lease, step: 1 }));
    await step('progress', () => heartbeat(db.sql, { ...lease, step: 2, progress: 'half' }));
    await step('snoozed', () => snooze(db.sql, { ...lease, delayMs: 1000 }));
    await makeDue(db.pool, first);
    await step('claimed again', claims);
    await step('released', () => release(db.sql, lease));
    await step('claimed once more', claims);
    await step('failed', () => failed(lease, 'transient'));
    await makeDue(db.pool, first);
    await step('a second attempt', claims);
    await step('escalated by the failure', () => failed(lease, 'transient'));
    await step('a person takes it', () => takes(first));
    await step('and gives it back', () => settleEscalated(db.sql, { ...hold, action: 'release' }));
    await step('takes it again', () => takes(first));
    await step('sends it back', () =>
      settleEscalated(db.sql, { ...hold, action: 'send_back', note: 'Look again.' }),
    );
    await step('an agent has it', claims);
    await step('and asks', () => escalate(db.sql, { ...lease, question: 'Which?' }));
    await step('the person has it', () => takes(first));
    await step('done by a person', () => settleEscalated(db.sql, { ...hold, action: 'complete' }));

    await configureQueue(db.sql, {
      queue: QUEUE,
      settings: { on_exhausted: 'dead' },
      actor: 'test',
    });
    let second = '';
    await step('another', async () => (second = await added(db.sql, { queue: QUEUE })));
    await step('claimed', claims);
    await step('dead', () => failed(lease, 'permanent'));
    await step('redriven', () =>
      redrive(db.sql, { jobIds: [second], reason: 'mended', actor: PERSON }),
    );
    await step('claimed', claims);
    await step('dead again', () => failed(lease, 'permanent'));
    await step('discarded', () =>
      discard(db.sql, { jobIds: [second], reason: 'not needed', actor: PERSON }),
    );
    let third = '';
    await step('a third', async () => (third = await added(db.sql, { queue: QUEUE })));
    await step('claimed', claims);
    await step('called off', () => cancel(db.sql, { jobId: third, actor: PERSON }));
    await step('hears of it', () => complete(db.sql, lease));
    await step('a fourth', () => added(db.sql, { queue: QUEUE }));
    await step('claimed', claims);
    await step('completed', () => complete(db.sql, lease));

    for (const { at, step: name, jobs } of moments) {
      const then = await boardAt(db.sql, { at, queue: QUEUE, limit: 200 });
      const inQuestion = then.jobs.map(past);
      expect({ name, jobs: inQuestion }).toEqual({ name, jobs });
      const states = Object.groupBy(jobs, ({ state }) => state);
      for (const [state, some] of Object.entries(states)) {
        expect(then.counts).toMatchObject({ [state]: some?.length });
      }
    }
    const empty = await boardAt(db.sql, { at: '2020-01-01T00:00:00Z', queue: QUEUE, limit: 200 });
    expect(empty).toMatchObject({ jobs: [], next_before: null, counts: {}, queues: [] });
  });

  test('S2.6 a lease that had run out by then is a pending job', async () => {
    await configureQueue(db.sql, {
      queue: 'expired',
      settings: { lease_seconds: 1 },
      actor: 'test',
    });
    const id = await added(db.sql, { queue: 'expired' });
    const lease = await claimed(db.sql, 'expired', AGENT);
    await heartbeat(db.sql, { ...lease, step: 1 });
    const at = async (): Promise<PastJob | undefined> => {
      const { rows } = await db.pool.query<{ at: Date }>('select clock_timestamp() as at');
      const board = { at: rows[0]?.at.toISOString() ?? '', queue: 'expired', limit: 1 };
      return (await boardAt(db.sql, board)).jobs[0];
    };
    expect(await at()).toMatchObject({ id, state: 'running', owner: AGENT });
    const { rows } = await db.pool.query<{ expires: string }>(
      `select details ->> 'lease_expires_at' as expires from leasehold.job_events
       where job_id = $1 and type = 'heartbeat'`,
      [id],
    );
    await db.pool.query('select pg_sleep_until($1::timestamptz)', [rows[0]?.expires]);
    expect(await at()).toMatchObject({ state: 'pending', owner: null, since: rows[0]?.expires });
  });

  test('S2.6 tells which queues were paused, and by whom', async () => {
    const instants: string[] = [];
    const note = async (): Promise<void> => {
      const { rows } = await db.pool.query<{ at: Date }>('select clock_timestamp() as at');
      // A millisecond is what an instant of the API has.
      instants.push(new Date((rows[0]?.at.getTime() ?? 0) + 1).toISOString());
      await db.pool.query('select pg_sleep(0.003)');
    };
    const pause = async (paused: boolean, reason: string): Promise<void> => {
      await setQueuePaused(db.sql, { queue: 'held', paused, actor: PERSON, reason });
      await note();
    };
    await pause(true, 'a flood');
    await pause(false, 'over');
    const paused = await Promise.all(
      instants.map(async (at) => (await boardAt(db.sql, { at, queue: 'held', limit: 1 })).queues),
    );
    expect(paused).toMatchObject([
      [{ name: 'held', paused: { by: PERSON, reason: 'a flood' } }],
      [{ name: 'held', paused: null }],
    ]);
  });

  test('pages, filters, and refuses what has not passed', async () => {
    const ids = [];
    for (let i = 0; i < 5; i += 1) ids.unshift(await added(db.sql, { queue: 'paged' }));
    await claimed(db.sql, 'paged', AGENT);
    const { rows } = await db.pool.query<{ at: string }>(
      `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`,
    );
    const at = rows[0]?.at ?? '';
    const first = await boardAt(db.sql, { at, queue: 'paged', limit: 3 });
    expect(first).toMatchObject({ counts: { pending: 4, running: 1 }, capped: false });
    const rest = await boardAt(db.sql, {
      at,
      queue: 'paged',
      limit: 3,
      before: first.next_before ?? '',
    });
    expect([...first.jobs, ...rest.jobs].map(({ id }) => id)).toEqual(ids);
    expect(rest).toMatchObject({ next_before: null, counts: null, queues: null });
    const running = { at, queues: ['paged', 'x'], state: 'running', limit: 3 } as const;
    expect((await boardAt(db.sql, running)).jobs).toHaveLength(1);
    expect((await boardAt(db.sql, { ...running, queues: ['x'] })).jobs).toEqual([]);
    const refused = { code: 'invalid_request', problems: [{ path: 'at' }] };
    await expect(boardAt(db.sql, { at: '2999-01-01T00:00:00Z', limit: 1 })).rejects.toMatchObject(
      refused,
    );
  });
});
