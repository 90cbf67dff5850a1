import { HUMAN_MUTATIONS } from './human-mutations.ts';
import type { Fault } from './virtual-clock.ts';
import type { SeedFault } from './world/run-seed.ts';

/** A way to break a routine, which the histories of simulated runs have to show. */
export interface Mutation {
  readonly name: string;
  /** What it breaks. */
  readonly rule: SeedFault['rule'];
  /** A seed whose history shows it. */
  readonly shownBy: number;
  readonly faults: readonly Fault[];
  /** Statements that go with them. */
  readonly statements?: string;
}

const TOKEN_OF_LEASE = 'and s.fencing_token = p_fencing_token';
const NOT_EXPIRED = 'and s.due_at > clock_timestamp()';

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'complete does not look at the token',
    rule: 'no_lost_reports',
    shownBy: 11,
    faults: [{ routine: 'end_succeeded', from: TOKEN_OF_LEASE, to: '' }],
  },
  {
    name: 'fail, snooze and release do not look at the token',
    rule: 'no_lost_reports',
    shownBy: 4,
    faults: [{ routine: 'take_lease', from: TOKEN_OF_LEASE, to: '' }],
  },
  {
    name: 'heartbeat does not look at the token',
    rule: 'no_lost_reports',
    shownBy: 11,
    faults: [{ routine: 'heartbeat', from: TOKEN_OF_LEASE, to: '' }],
  },
  {
    name: 'complete does not look at the expiry',
    rule: 'no_lost_reports',
    shownBy: 2,
    faults: [{ routine: 'end_succeeded', from: NOT_EXPIRED, to: '' }],
  },
  {
    name: 'heartbeat renews a lease that has run out',
    rule: 'no_lost_reports',
    shownBy: 2,
    faults: [{ routine: 'heartbeat', from: NOT_EXPIRED, to: '' }],
  },
  {
    name: 'claim updates what it selects in one statement: id in (select … limit 1)',
    rule: 'leases_overlap',
    shownBy: 2,
    faults: [
      {
        routine: 'claim',
        from: '      limit 1\n      for no key update skip locked;',
        to: '      limit 1;',
      },
      {
        routine: 'claim',
        from: 'where s.ctid = v_found.place and s.job_id = r.job_id',
        to: `where s.job_id in (select i.job_id from leasehold.job_state i where i.job_id = r.job_id limit 1)`,
      },
    ],
  },
  {
    name: 'settle does not lock the lease that it ends',
    rule: 'unexpected_error',
    shownBy: 2,
    faults: [{ routine: 'settle', from: '    for no key update skip locked;', to: ';' }],
  },
  {
    name: 'settle ends a lease that has half a second left',
    rule: 'leases_overlap',
    shownBy: 3,
    faults: [
      {
        routine: 'settle',
        from: 's.lane = 0 and s.due_at <= v_now',
        to: `s.lane = 0 and s.due_at <= v_now + interval '500 ms'`,
      },
    ],
  },
  {
    name: 'claim does not count the attempt',
    rule: 'attempt_budget',
    shownBy: 1,
    faults: [{ routine: 'claim', from: 'attempt = s.attempt + 1', to: 'attempt = s.attempt' }],
  },
  {
    name: 'claim keeps the token of a lease that ran out',
    rule: 'tokens_grow',
    shownBy: 1,
    faults: [
      {
        routine: 'claim',
        from: 'fencing_token = s.fencing_token + 1',
        to: 'fencing_token = s.fencing_token + (v_lane > 0)::int',
      },
    ],
  },
  {
    name: 'claim takes a lease that has half a second left',
    rule: 'leases_overlap',
    shownBy: 3,
    faults: [
      {
        routine: 'claim',
        from: 's.lane = 0 and s.due_at >= f[1] and s.due_at <= v_now',
        to: `s.lane = 0 and s.due_at >= f[1] and s.due_at <= v_now + interval '500 ms'`,
      },
      {
        routine: 'claim',
        from: 's.lane = v_lane and s.due_at >= h[v_lane + 1] and s.due_at <= v_now',
        to: `s.lane = v_lane and s.due_at >= h[v_lane + 1] and s.due_at <= v_now + interval '500 ms'`,
      },
    ],
  },
  {
    name: 'redrive starts the tokens again',
    rule: 'tokens_grow',
    shownBy: 1,
    faults: [{ routine: 'revive', from: '    d.fencing_token,\n    0,', to: '    0,\n    0,' }],
  },
  {
    name: 'fail goes on when the attempts are used up',
    rule: 'attempt_budget',
    shownBy: 5,
    faults: [
      { routine: 'fail', from: 'r.attempt >= r.max_attempts', to: 'r.attempt > r.max_attempts' },
    ],
  },
  {
    name: 'a job with an ordering key does not wait for it',
    rule: 'ordering_key',
    shownBy: 1,
    faults: [
      {
        routine: 'enqueue_batch',
        from: 'case when j.ordering_key is null then j.home_lane else 9 end',
        to: 'j.home_lane',
      },
    ],
  },
  {
    name: 'a dead job does not hold back its key',
    rule: 'ordering_key',
    shownBy: 1,
    faults: [{ routine: 'unpark', from: 'd.blocks_key = p_key', to: 'false' }],
  },
  {
    name: 'a completed job does not let its key go on',
    rule: 'ordering_key',
    shownBy: 1,
    faults: [
      {
        routine: 'end_succeeded',
        from: 'perform leasehold.unpark(r.queue, r.ordering_key, r.owner);',
        to: 'null;',
      },
    ],
  },
  {
    name: 'dedup keys are not looked at',
    rule: 'dedup_key',
    shownBy: 1,
    faults: [
      {
        routine: 'enqueue_batch',
        from: 's.queue = v_wanted.queue and s.dedup_key = v_wanted.dedup_key',
        to: 'false',
      },
    ],
    statements: 'drop index leasehold.job_state_dedup_key',
  },
  {
    name: 'redrive does not look at the dedup key',
    rule: 'dedup_key',
    shownBy: 1,
    faults: [{ routine: 'revive', from: 's.dedup_key = j.dedup_key', to: 'false' }],
    statements: 'drop index leasehold.job_state_dedup_key',
  },
  {
    name: 'floors do not reckon with writers that commit late',
    rule: 'nothing_left_behind',
    shownBy: 26,
    faults: [
      { routine: 'refresh_claim_floors', from: 'where x.xid < p.next_xid', to: 'where false' },
    ],
  },
  {
    name: 'an expiry is not written to the log',
    rule: 'log_rebuilds_state',
    shownBy: 1,
    faults: [
      {
        routine: 'settle_expired_lease',
        from: "values (r.job_id, p_now, 'lease_expired'",
        to: "select r.job_id, p_now, 'lease_expired'",
      },
      {
        routine: 'settle_expired_lease',
        from: `jsonb_build_object('attempt', r.attempt, 'owner', r.owner));`,
        to: `jsonb_build_object('attempt', r.attempt, 'owner', r.owner) where false;`,
      },
    ],
  },
  {
    name: 'a keyed job that is completed stays live',
    rule: 'ends_once',
    shownBy: 1,
    faults: [
      {
        routine: 'end_succeeded',
        from: 'delete from leasehold.job_state s where s.job_id = r.job_id;',
        to: 'null;',
      },
    ],
  },
  {
    name: 'an effect that nobody knows the end of is begun again',
    rule: 'effects_once',
    shownBy: 3,
    faults: [
      { routine: 'begin_effect', from: 'e.fencing_token < p_fencing_token', to: 'false' },
      { routine: 'begin_effect', from: `e.state is distinct from 'started'`, to: 'true' },
    ],
  },
  {
    name: 'a relay marks events without its token',
    rule: 'shard_leases',
    shownBy: 20,
    faults: [{ routine: 'settle_events', from: 'and h.fencing_token = p_fencing_token', to: '' }],
  },
  {
    name: 'events behind a held one are not held',
    rule: 'aggregate_order',
    shownBy: 6,
    faults: [{ routine: 'sort_held_events', from: 'd.position > (', to: 'd.position < (' }],
  },
  {
    name: 'the inbox takes an event that it has on record',
    rule: 'effects_once',
    shownBy: 1,
    faults: [{ routine: 'accept_event', from: 'when i.duplicates = 0 then', to: 'when true then' }],
  },
  {
    name: 'the inbox takes an older version',
    rule: 'aggregate_order',
    shownBy: 2,
    faults: [{ routine: 'accept_event', from: 'p_version <= applied_version', to: 'false' }],
  },
  ...HUMAN_MUTATIONS,
];
