import type pg from 'pg';
import { uuidv7 } from 'uuidv7';
import type { FloorStep, StepJob, StepOnJob } from './floor-steps.ts';
import { OpenTransactions, type Row } from './open-transactions.ts';
import type { VirtualClock } from './virtual-clock.ts';

interface HeldLease {
  readonly jobId: string;
  readonly owner: string;
  readonly token: string;
}

/** Dead entries that an old snapshot keeps: more than a claim walks without asking for floors. */
const DEAD_ENTRIES = 260;

/** One queue, some transactions and an old snapshot, and the steps that can happen to them. */
export class FloorWorld {
  readonly queue = `floors ${uuidv7()}`;
  readonly pool: pg.Pool;
  readonly transactions: OpenTransactions;
  readonly #clock: VirtualClock;
  readonly #leases: HeldLease[] = [];
  readonly #jobs: string[] = [];
  #reader: pg.PoolClient | undefined;

  private constructor(pool: pg.Pool, clock: VirtualClock, transactions: OpenTransactions) {
    this.pool = pool;
    this.#clock = clock;
    this.transactions = transactions;
  }

  static async create(pool: pg.Pool, clock: VirtualClock): Promise<FloorWorld> {
    const world = new FloorWorld(pool, clock, await OpenTransactions.create(pool));
    await pool.query('select leasehold.configure_queue($1, $2)', [
      world.queue,
      { backoff_base_ms: 0, lease_seconds: 5, max_run_seconds: 60, max_attempts: 50 },
    ]);
    await world.#holdSnapshot();
    return world;
  }

  async close(): Promise<void> {
    await this.transactions.close();
    await this.#letSnapshotGo();
  }

  async take(step: FloorStep): Promise<void> {
    const { transactions, queue } = this;
    switch (step.do) {
      case 'time passes':
        return await this.#clock.move(step.ms);
      case 'the clock steps back':
        // Else a row from before the step could show after it: the exception of check-floors, unseen by it.
        return transactions.someoneClaimed ? undefined : await this.#clock.move(-step.ms);
      case 'hold a snapshot':
        return await this.#holdSnapshot();
      case 'let the old snapshot go':
        await this.#letSnapshotGo();
        await this.pool.query('vacuum leasehold.job_state');
        return;
      case 'pause':
      case 'resume': {
        const pause = `select leasehold.set_queue_paused($1, $2, 'op')`;
        await transactions.run(0, pause, [queue, step.do === 'pause']);
        return;
      }
      case 'settle':
        await transactions.run(0, `select leasehold.settle($1, 10, 'op')`, [queue]);
        return;
      case 'refresh': {
        const refresh = 'select leasehold.refresh_claim_floors($1, $2)';
        await transactions.run(0, refresh, [queue, step.full]);
        return;
      }
      case 'enqueue': {
        // Keys are for read committed.
        const keyless = transactions.isRepeatable(step.slot);
        const jobs = step.jobs.map((job) => (keyless ? { ...job, key: 0, dedup: false } : job));
        await transactions.run(step.slot, ENQUEUE, [this.#batch(jobs)]);
        return;
      }
      case 'enqueue, and wait for a key': {
        // Jobs without a key beside one that must wait for its key.
        const jobs = step.jobs.map((job) => ({ ...job, key: 0, dedup: false }));
        const keyed: StepJob = { priority: 'normal', delayMs: 0, key: 0, dedup: true };
        await transactions.runWaiting(step.slot, ENQUEUE, [this.#batch([...jobs, keyed])]);
        return;
      }
      case 'open at repeatable read':
        await transactions.open(step.slot, 'repeatable read');
        return;
      case 'commit':
        return await transactions.end(step.slot, 'commit');
      case 'roll back':
        return await transactions.end(step.slot, 'rollback');
      case 'claim':
        await this.claim(step.slot, step.limit);
        return;
      case 'edit':
      case 'edit the priority':
      case 'cancel': {
        const id = this.#jobs.at(-1 - (step.pick % Math.max(1, this.#jobs.length)));
        if (id !== undefined) await transactions.run(step.slot, CALLS[step.do], [id]);
        return;
      }
      case 'redrive':
      case 'discard':
        return await this.#settleDead(step);
      case 'complete':
      case 'complete and claim':
      case 'fail':
      case 'fail for good':
      case 'snooze':
      case 'release':
      case 'heartbeat':
        return await this.#report(step);
    }
  }

  /** The ids that a claim took; undefined where it could not be made. */
  async claim(slot: number, limit: number): Promise<string[] | undefined> {
    const owner = uuidv7();
    const rows = await this.transactions.run(
      slot,
      'select job_id, fencing_token from leasehold.claim($1, $2, $3, p_limit => $4)',
      [this.queue, owner, uuidv7(), limit],
    );
    return rows && this.#keep(rows, owner);
  }

  #keep(rows: readonly Row[], owner: string): string[] {
    const ids: string[] = [];
    for (const { job_id: jobId, fencing_token: token } of rows) {
      if (jobId == null || token == null) continue;
      this.#leases.push({ jobId, owner, token });
      ids.push(jobId);
    }
    return ids;
  }

  async #report(step: StepOnJob): Promise<void> {
    const lease = this.#leases.at(-1 - (step.pick % Math.max(1, this.#leases.length)));
    if (lease === undefined) return;
    const next = step.do === 'complete and claim' ? [this.queue, uuidv7()] : [];
    const values = [lease.jobId, lease.owner, lease.token, ...next];
    const rows = await this.transactions.run(step.slot, CALLS[step.do], values);
    if (rows !== undefined && next.length > 0) this.#keep(rows, lease.owner);
  }

  async #settleDead(step: StepOnJob): Promise<void> {
    const { rows } = await this.pool.query<{ job_id: string }>(
      'select job_id from leasehold.dead_letters where queue = $1 order by dead_at, job_id',
      [this.queue],
    );
    const dead = rows[step.pick % Math.max(1, rows.length)];
    if (dead === undefined) return;
    await this.transactions.run(step.slot, CALLS[step.do], [JSON.stringify([dead.job_id])]);
  }

  #batch(jobs: readonly StepJob[]): string {
    return JSON.stringify(
      jobs.map(({ priority, delayMs, key, dedup }) => {
        const id = uuidv7();
        this.#jobs.push(id);
        return {
          id,
          queue: this.queue,
          type: 't',
          payload: 1,
          priority,
          delay_ms: delayMs,
          ...(key > 0 && { ordering_key: `key ${key}` }),
          ...(dedup && { dedup_key: 'one' }),
        };
      }),
    );
  }

  async #holdSnapshot(): Promise<void> {
    if (this.#reader !== undefined) return;
    this.#reader = await this.pool.connect();
    await this.#reader.query('begin isolation level repeatable read; select 1 from pg_class');
    await this.pool.query(
      `insert into leasehold.job_state (job_id, due_at, max_attempts, lane, home_lane, queue)
       select gen_random_uuid(), virtual.clock() - interval '1 hour', 1, 1 + i % 4, 1, $1
       from generate_series(1, ${DEAD_ENTRIES}) i`,
      [this.queue],
    );
    await this.pool.query(
      'delete from leasehold.job_state s where s.queue = $1 and s.job_id not in (select j.id from leasehold.jobs j)',
      [this.queue],
    );
  }

  async #letSnapshotGo(): Promise<void> {
    await this.#reader?.query('commit');
    this.#reader?.release();
    this.#reader = undefined;
  }
}

const ENQUEUE = `select * from leasehold.enqueue_batch($1, 'test')`;
const CALLS: Readonly<Record<StepOnJob['do'], string>> = {
  complete: 'select * from leasehold.complete($1, $2, $3)',
  'complete and claim': 'select * from leasehold.complete_and_claim($1, $2, $3, $4, $5)',
  fail: `select * from leasehold.fail($1, $2, $3, '{"code": "x"}', 'transient')`,
  'fail for good': `select * from leasehold.fail($1, $2, $3, '{"code": "x"}', 'permanent')`,
  snooze: 'select * from leasehold.snooze($1, $2, $3, 40)',
  release: 'select * from leasehold.release($1, $2, $3)',
  heartbeat: `select * from leasehold.heartbeat($1, $2, $3, 1000, gen_random_uuid()::text, 1)`,
  edit: `select leasehold.edit_job($1, '2000-01-01', null, 'op')`,
  'edit the priority': `select leasehold.edit_job($1, null, 'low', 'op')`,
  // Not a running one: that is no write into a lane, and it would hide who made the last one.
  cancel: `select leasehold.cancel(s.job_id, 'op') from leasehold.job_state s where s.job_id = $1 and s.lane > 0`,
  redrive: `select * from leasehold.redrive($1, 'r', 'op')`,
  discard: `select * from leasehold.discard($1, 'r', 'op')`,
};
