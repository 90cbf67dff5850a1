import type { Mutation } from './mutations.ts';

const TOKEN_OF_HOLD = 'and l.fencing_token = p_fencing_token';
const NOT_EXPIRED = 'and l.held_until > clock_timestamp()';

/** Ways to break what happens between workers and people. */
export const HUMAN_MUTATIONS: readonly Mutation[] = [
  {
    name: 'a decision does not look at the token of the hold',
    rule: 'no_lost_reports',
    shownBy: 13,
    faults: [{ routine: 'settle_escalated', from: TOKEN_OF_HOLD, to: '' }],
  },
  {
    name: 'a decision does not look at the end of the hold',
    rule: 'no_lost_reports',
    shownBy: 4,
    faults: [{ routine: 'settle_escalated', from: NOT_EXPIRED, to: '' }],
  },
  {
    name: 'a hold keeps the token of the holder before',
    rule: 'tokens_grow',
    shownBy: 1,
    faults: [
      {
        routine: 'claim_escalated',
        from: 'set fencing_token = l.fencing_token + 1',
        to: 'set fencing_token = l.fencing_token',
      },
    ],
  },
  {
    name: 'a person takes a hold that has half a second left',
    rule: 'leases_overlap',
    shownBy: 36,
    faults: [
      {
        routine: 'claim_escalated',
        from: 'l.held_until <= clock_timestamp()',
        to: `l.held_until <= clock_timestamp() + interval '500 ms'`,
      },
      {
        routine: 'claim_escalated',
        from: 'if d.held_until > v_now then',
        to: `if d.held_until > v_now + interval '500 ms' then`,
      },
    ],
  },
  {
    name: 'workers go on when it is the turn of a person',
    rule: 'attempt_budget',
    shownBy: 1,
    faults: [
      {
        routine: 'fail',
        from: 'r.attempt >= v_escalates_after',
        to: 'r.attempt > v_escalates_after',
      },
    ],
  },
  {
    name: 'an escalated job that a person completed does not let its key go on',
    rule: 'ordering_key',
    shownBy: 1,
    faults: [
      {
        routine: 'settle_escalated',
        from: `p_action in ('complete', 'discard')`,
        to: `p_action = 'discard'`,
      },
    ],
  },
  {
    name: 'the attempt of a holder who asks is not put on record',
    rule: 'log_rebuilds_state',
    shownBy: 4,
    faults: [
      {
        routine: 'escalate',
        from: `  values (r.job_id, r.fencing_token, r.attempt, r.owner, r.started_at, v_now, 'escalated', v_state, 'asked_for_human',
    v_error);`,
        to: `  select r.job_id, r.fencing_token, r.attempt, r.owner, r.started_at, v_now, 'escalated', v_state, 'asked_for_human',
    v_error where false;`,
      },
    ],
  },
];
