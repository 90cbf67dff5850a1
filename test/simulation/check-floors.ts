import type pg from 'pg';
import type { FloorStep } from './floor-steps.ts';
import { FloorWorld } from './floor-world.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** How often the sequences came to where floors matter: a property that never does proves nothing. */
export interface Coverage {
  /** Steps after which floors were in force. */
  inForce: number;
  /** Jobs below a floor, written by a suspect. */
  ofSuspects: number;
  /** Claims that answered "nothing due", checked one by one. */
  empties: number;
  /** The same, while floors were in force. */
  floored: number;
  /** Jobs written while the clock was behind the ledger and nobody claimed. */
  behind: number;
}

export const noCoverage = (): Coverage => ({
  inForce: 0,
  ofSuspects: 0,
  empties: 0,
  floored: 0,
  behind: 0,
});

/**
 * Runs a sequence on a queue of its own. After each step: no committed live job lies below a floor in force, unless a suspect
 * of that row wrote it; and a claim never answers "nothing due" while a due job that nobody holds is committed. At the end
 * all transactions commit: one refresh later no job lies below a floor.
 *
 * One exception is documented at leasehold.refresh_claim_floors: jobs written after the clock stepped back and before anyone
 * claimed wait for the next read without floors.
 */
export async function checkFloors(
  pool: pg.Pool,
  clock: VirtualClock,
  sequence: readonly FloorStep[],
  coverage: Coverage,
): Promise<void> {
  const world = await FloorWorld.create(pool, clock);
  const check = new FloorCheck(world, coverage);
  let at = 0;
  try {
    for (const step of sequence) {
      if (step.do === 'claim' && step.slot === 0) await check.claim(step.limit);
      else await world.take(step);
      await check.floors();
      at += 1;
    }
    await world.take({ do: 'resume' });
    await world.transactions.commitAll();
    await check.floors();
    await world.take({ do: 'time passes', ms: 8_000 });
    await check.claim(1);
    // After a step back, the time of the last read without floors may still lie ahead.
    await check.floors({
      suspectsHaveEnded: !sequence.some((step) => step.do === 'the clock steps back'),
    });
    await world.take({ do: 'time passes', ms: 11_000 });
    await check.claim(1);
    await check.floors({ suspectsHaveEnded: true, afterFullRead: true });
    while ((await check.claim(100)) > 0);
  } catch (error) {
    const what = at < sequence.length ? JSON.stringify(sequence[at]) : 'the end';
    throw new Error(
      `step ${at} (${what}): ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
      },
    );
  } finally {
    await world.close();
  }
}

interface BelowRow {
  readonly id: number;
  readonly in_force: boolean;
  readonly future: boolean;
  readonly fresh: boolean;
  readonly full_at: string | null;
  readonly below: readonly { id: string; text: string; suspect: boolean }[] | null;
}

class FloorCheck {
  readonly #world: FloorWorld;
  readonly #coverage: Coverage;
  /** Jobs of the exception, each with the read without floors that did not show it. */
  readonly #excused = new Map<string, string | null>();
  /** The row that the clock was seen to stand before, until somebody starts the ledger afresh. */
  #behind: number | undefined;

  constructor(world: FloorWorld, coverage: Coverage) {
    this.#world = world;
    this.#coverage = coverage;
  }

  async floors({ suspectsHaveEnded = false, afterFullRead = false } = {}): Promise<void> {
    const { rows } = await this.#world.pool.query<BelowRow>(BELOW, [this.#world.queue]);
    const row = rows[0];
    if (row === undefined) return;
    const below = row.below ?? [];
    if (row.future) this.#behind = row.id;
    else if (row.fresh && this.#behind !== row.id) this.#behind = undefined;
    if (this.#behind !== undefined) {
      for (const { id, suspect } of below) if (!suspect) this.#excused.set(id, row.full_at);
      this.#coverage.behind += below.length;
      if (!row.in_force) return;
    }
    if (row.in_force) this.#coverage.inForce += 1;
    for (const job of below) {
      if (!row.in_force) continue;
      const excused = this.#excused.has(job.id) && this.#excused.get(job.id) === row.full_at;
      if (excused && !afterFullRead) continue;
      if (job.suspect && !suspectsHaveEnded) {
        this.#coverage.ofSuspects += 1;
        continue;
      }
      throw new Error(
        `below the floor${job.suspect ? ' although its writer has ended' : ''}: ${job.text}`,
      );
    }
  }

  async claim(limit: number): Promise<number> {
    const { pool, queue } = this.#world;
    const { rows: before } = await pool.query<{
      now: string;
      claimable: boolean;
      floored: boolean;
      future: boolean;
    }>(
      `select virtual.clock()::text as now,
         q.paused_at is null and (
           -- A call settles eight expired leases at most.
           select count(*) < 4 from leasehold.job_state s
           where s.queue = q.name and s.lane = 0 and s.due_at <= virtual.clock()
         ) as claimable,
         exists (select 1 from leasehold.usable_floors(q.name, virtual.clock()) u where u.floors is not null) as floored,
         exists (select 1 from leasehold.usable_floors(q.name, virtual.clock()) u where u.floors is null) as future
       from leasehold.queues q where q.name = $1`,
      [queue],
    );
    const taken = await this.#world.claim(0, limit);
    const [state] = before;
    if (state === undefined || taken === undefined) return 0;
    if (state.future && state.claimable && !this.#world.transactions.someoneClaimed) {
      const { rows: after } = await pool.query<BelowRow>(BELOW, [queue]);
      if (after[0]?.future === true) throw new Error('a claim left a row from the future in place');
    }
    if (taken.length > 0 || !state.claimable) return taken.length;
    this.#coverage.empties += 1;
    if (state.floored) this.#coverage.floored += 1;
    const { rows } = await pool.query<{ job_id: string; text: string }>(
      `select s.job_id, s::text as text
       from leasehold.job_state s
       where s.queue = $1 and s.lane < 9 and s.due_at <= $2
         -- An expired lease gives way to whoever holds its key.
         and (s.lane > 0 or s.ordering_key is null)
       for no key update skip locked`,
      [queue, state.now],
    );
    const missed = rows.filter(({ job_id: id }) => !this.#excused.has(id));
    if (missed.length > 0) {
      throw new Error(
        `nothing due, said a claim at ${state.now}: ${missed.map((r) => r.text).join()}`,
      );
    }
    return 0;
  }
}

const BELOW = `
  select
    n.id::int,
    n.at between virtual.clock() - interval '1 minute' and virtual.clock() and n.floors is not null as in_force,
    n.at > virtual.clock() as future,
    n.full_at is null as fresh,
    n.full_at::text,
    (
      select jsonb_agg(jsonb_build_object(
        'id', s.job_id,
        'text', format('lane %s due %s xid %s, row %s', s.lane, s.due_at, s.xmin, n),
        'suspect', s.xmin::text::bigint = any (array(select x.xid::text::bigint % 4294967296 from unnest(n.suspects) x (xid)))
      ))
      from leasehold.job_state s
      where s.queue = n.queue and s.lane < 9 and s.due_at < n.floors[s.lane + 1]
    ) as below
  from (select f.* from leasehold.claim_floors f where f.queue = $1 order by f.id desc limit 1) n`;
