import type { FloorStep, StepJob } from './floor-steps.ts';
import type { Fault } from './virtual-clock.ts';

/** A way to get the floors wrong, each hiding a committed job from the claims, and the steps that show it. */
export interface FloorFault {
  readonly name: string;
  readonly faults: readonly Fault[];
  readonly shownBy: readonly FloorStep[];
}

const claim = (slot = 0): FloorStep => ({ do: 'claim', slot, limit: 1 });
const pass = (ms: number): FloorStep => ({ do: 'time passes', ms });
const commit: FloorStep = { do: 'commit', slot: 1 };
const job = (job: Partial<StepJob> = {}): StepJob => ({
  priority: 'normal',
  delayMs: 0,
  key: 0,
  dedup: false,
  ...job,
});
const enqueue = (slot: number, ...jobs: StepJob[]): FloorStep => ({ do: 'enqueue', slot, jobs });
/** A job is added by a transaction that stays open while two rows of floors are written. */
const LATE = [claim(), pass(600), enqueue(1, job()), pass(600), claim(), pass(600), claim()];

export const FLOOR_FAULTS: readonly FloorFault[] = [
  {
    name: 'floors are capped at the clock of their own row',
    faults: [
      { routine: 'refresh_claim_floors', from: 'least(p.at, (', to: 'least(v_at, (' },
      { routine: 'refresh_claim_floors', from: 's.due_at < p.at', to: 's.due_at < v_at' },
    ],
    shownBy: [claim(), pass(600), enqueue(1, job()), pass(600), claim()],
  },
  {
    // As with the end of the snapshot, pg_snapshot_xmax, where nothing has ended since the writer began.
    name: 'a row goes by an id that a writer of its time may already have',
    faults: [
      {
        routine: 'refresh_claim_floors',
        from: 'pg_current_xact_id(),\n    array(',
        to: 'pg_snapshot_xmin(v_snapshot),\n    array(',
      },
    ],
    shownBy: LATE,
  },
  {
    name: 'a row goes by a clock that is later than its id',
    faults: [
      { routine: 'refresh_claim_floors', from: 'transaction_timestamp()', to: 'clock_timestamp()' },
    ],
    shownBy: [
      enqueue(0, job(), job()),
      claim(1),
      pass(600),
      enqueue(2, job()),
      pass(60),
      claim(1),
      commit,
      pass(600),
      claim(),
    ],
  },
  {
    name: 'writers with an older id are not kept as suspects',
    faults: [
      { routine: 'refresh_claim_floors', from: 'where x.xid < p.next_xid', to: 'where false' },
    ],
    shownBy: LATE,
  },
  {
    name: 'suspects that have ended are dropped by a read with floors',
    faults: [
      { routine: 'refresh_claim_floors', from: 'where not v_full and', to: 'where false and' },
    ],
    shownBy: [...LATE, commit, pass(60), { do: 'refresh', full: false }],
  },
  {
    name: 'an ended suspect does not ask for a read without floors',
    faults: [
      {
        routine: 'refresh_claim_floors',
        from: 'select 1 from unnest(p.suspects) u (xid) where',
        to: 'select 1 from unnest(p.suspects) u (xid) where false and',
      },
    ],
    shownBy: [...LATE, commit, enqueue(0, job())],
  },
  {
    name: 'a claim that finds nothing trusts the floors',
    faults: [
      {
        routine: 'claim',
        from: 'select 1 from unnest(v_floors.suspects) u (xid) where',
        to: 'select 1 from unnest(v_floors.suspects) u (xid) where false and',
      },
    ],
    shownBy: [...LATE, commit, claim()],
  },
  {
    name: 'a claim leaves a row from the future where it is',
    faults: [
      {
        routine: 'claim',
        from: "not between v_now - interval '500 milliseconds' and v_now",
        to: "< v_now - interval '500 milliseconds'",
      },
      { routine: 'refresh_claim_floors', from: 'p.at > clock_timestamp()', to: 'false' },
    ],
    shownBy: [claim(), pass(600), claim(), { do: 'the clock steps back', ms: 5_000 }, claim()],
  },
  {
    name: 'enqueue_batch reads the clock before it has its id',
    faults: [{ routine: 'enqueue_batch', from: 'perform pg_current_xact_id();', to: '' }],
    shownBy: [
      enqueue(1, job({ dedup: true })),
      claim(),
      { do: 'enqueue, and wait for a key', slot: 2, jobs: [job()] },
      pass(600),
      claim(),
      pass(600),
      claim(),
      { do: 'roll back', slot: 1 },
    ],
  },
  {
    name: 'a redriven job is due in the past',
    faults: [
      {
        routine: 'redrive',
        from: 'v_now := clock_timestamp();',
        to: `v_now := clock_timestamp() - interval '1 minute';`,
      },
    ],
    shownBy: [
      enqueue(0, job()),
      claim(),
      { do: 'fail for good', slot: 0, pick: 0 },
      pass(600),
      claim(),
      { do: 'redrive', slot: 0, pick: 0 },
    ],
  },
  {
    name: 'an edited job is due in the past',
    faults: [
      {
        routine: 'edit_job',
        from: 'due_at = greatest(coalesce(p_due_at, s.due_at), clock_timestamp()),',
        to: 'due_at = coalesce(p_due_at, s.due_at),',
      },
    ],
    shownBy: [
      enqueue(0, job({ delayMs: 2_000 })),
      claim(),
      pass(600),
      claim(),
      { do: 'edit', slot: 0, pick: 0 },
    ],
  },
  {
    name: 'the next job of a key keeps the due time that it had while it waited',
    faults: [{ routine: 'unpark', from: 'greatest(s.due_at, clock_timestamp())', to: 's.due_at' }],
    shownBy: [
      enqueue(0, job({ key: 1 }), job({ key: 1 })),
      claim(),
      pass(600),
      claim(),
      pass(600),
      claim(),
      { do: 'complete', slot: 0, pick: 0 },
    ],
  },
];
