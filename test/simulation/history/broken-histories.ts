import type { HistoryRule } from './report.ts';

/**
 * Ways to break the history that check-history.test.ts makes: the rule that has to notice, what is broken, and the statements
 * that break it. `$done` and its like stand for the ids of its jobs.
 */
export const BROKEN: readonly (readonly [rule: HistoryRule, what: string, sql: string])[] = [
  ['leases_overlap', 'a second claim', `${log('claimed', 'running', 2)}`],
  ['leases_overlap', 'a lease ended early', log('lease_expired', 'running', 1)],
  ['leases_overlap', 'a second hold', person('claimed', 'held', 3)],
  ['leases_overlap', 'a hold ended early', person('lease_expired', 'held', 2)],
  [
    'tokens_grow',
    'a token that comes again',
    `${log('lease_expired', 'running', 1, '1 hour')}; ${log('claimed', 'running', 1, '2 hours')}`,
  ],
  [
    'tokens_grow',
    'a hold under the token of an attempt',
    `${person('lease_expired', 'held', 2, '1 hour')}; ${person('claimed', 'held', 2, '2 hours')}`,
  ],
  [
    'accepted_is_kept',
    'a live row that is gone',
    `delete from leasehold.job_state where job_id = '$waiting'`,
  ],
  [
    'accepted_is_kept',
    'a job that is gone',
    `delete from leasehold.jobs where id = '$waiting'; delete from leasehold.job_state where job_id = '$waiting'; delete from leasehold.job_events where job_id = '$waiting'`,
  ],
  [
    'ends_once',
    'live and ended',
    `insert into leasehold.job_state (job_id, due_at, max_attempts, lane, home_lane, queue) values ('$done', now(), 1, 3, 3, 'history')`,
  ],
  ['ends_once', 'completed again', log('completed', 'done', 2)],
  ['ends_once', 'completed again by a person', person('completed', 'done', 2)],
  [
    'no_lost_reports',
    'a report after the end of the lease',
    log('completed', 'running', 1, '1 hour'),
  ],
  ['no_lost_reports', 'a report under an old token', log('failed', 'running', 0)],
  ['no_lost_reports', 'a question of nobody who holds it', log('escalated', 'running', 0)],
  ['no_lost_reports', 'a decision after the hold', person('completed', 'held', 2, '1 hour')],
  ['no_lost_reports', 'a decision under an old token', person('redriven', 'held', 1)],
  ['no_lost_reports', 'a decision without a hold', person('released', 'asked', 1)],
  [
    'no_lost_reports',
    'a note of another holder',
    person('redriven', 'held', 2, '0 s', '{"note": "token 1 was for this"}'),
  ],
  [
    'no_lost_reports',
    'what another person did',
    `update leasehold.finished_jobs set result = '{"fencing_token": "2"}' where job_id = '$decided'`,
  ],
  [
    'no_lost_reports',
    'a result of another holder',
    `update leasehold.finished_jobs set result = '{"fencing_token": "1"}' where job_id = '$done'`,
  ],
  [
    'no_lost_reports',
    'a marker of another holder',
    `update leasehold.job_events set details = jsonb_set(details, '{progress}', '"token 7 of old"') where type = 'progressed'`,
  ],
  [
    'no_lost_reports',
    'an effect of another holder',
    `update app.job_effects set fencing_token = 1`,
  ],
  [
    'attempt_budget',
    'an attempt that is not counted',
    `update leasehold.job_events set details = details || '{"attempt": 0}' where type = 'claimed' and job_id = '$running'`,
  ],
  [
    'attempt_budget',
    'an attempt too many',
    `update leasehold.jobs set max_attempts = 1 where id = '$snoozed'`,
  ],
  [
    'attempt_budget',
    'an attempt when it was the turn of a person',
    `update leasehold.jobs set escalate_after = 1 where id = '$decided'`,
  ],
  ['ordering_key', 'two of a key let go', log('unparked', 'second', 0)],
  ['ordering_key', 'claimed while parked', log('claimed', 'second', 1)],
  [
    'ordering_key',
    'one let go past an escalated job',
    `${log('escalated', 'first', 0)}; ${log('unparked', 'second', 0)}`,
  ],
  [
    'ordering_key',
    'parked for ever',
    `delete from leasehold.job_events where type = 'unparked' and job_id = '$first'`,
  ],
  [
    'dedup_key',
    'two live jobs of a key',
    `update leasehold.jobs set dedup_key = 'one' where id = '$second'`,
  ],
  [
    'aggregate_order',
    'a version that is missing',
    `delete from leasehold.outbox_events where version = 2`,
  ],
  [
    'aggregate_order',
    'published before the one before',
    `update leasehold.outbox_published u set at = now() + interval '1 hour' from leasehold.outbox_events e where e.id = u.event_id and e.version = 1`,
  ],
  [
    'aggregate_order',
    'an event that nobody will publish',
    `delete from leasehold.outbox_published u using leasehold.outbox_events e where e.id = u.event_id and e.version = 3`,
  ],
  ['aggregate_order', 'applied in another order', `${apply(2)}; ${apply(1)}`],
  [
    'shard_leases',
    'marked by a relay that had lost its shard',
    `update leasehold.outbox_published u set fencing_token = 9, at = u.at - interval '1 hour' from leasehold.outbox_events e where e.id = u.event_id and e.version = 1`,
  ],
  [
    'effects_once',
    'an effect of the job twice',
    `insert into app.job_effects table app.job_effects`,
  ],
  [
    'effects_once',
    'an effect begun again',
    `${log('effect_started', 'running', 1, '0 s', '{"key": "charge"}')}; ${log('effect_started', 'running', 1, '0 s', '{"key": "charge"}')}`,
  ],
  ['effects_once', 'an event applied twice', `${apply(1)}; ${apply(1)}`],
  [
    'log_rebuilds_state',
    'an event that is not written',
    `delete from leasehold.job_events where type = 'redriven'`,
  ],
  [
    'log_rebuilds_state',
    'an attempt off the record',
    `delete from leasehold.attempts where job_id = '$done' and fencing_token = 1`,
  ],
  [
    'log_rebuilds_state',
    'another token',
    `update leasehold.job_state set fencing_token = 5 where job_id = '$waiting'`,
  ],
  [
    'log_rebuilds_state',
    'another end of a lease',
    `update leasehold.job_state set due_at = due_at + interval '1 s' where job_id = '$running'`,
  ],
  [
    'log_rebuilds_state',
    'dead instead of escalated',
    `update leasehold.dead_letters set state = 'dead' where job_id = '$asked'`,
  ],
  [
    'log_rebuilds_state',
    'another holder',
    `update leasehold.dead_letters set held_by = 'omar' where job_id = '$held'`,
  ],
  [
    'log_rebuilds_state',
    'another end of a hold',
    `update leasehold.dead_letters set held_until = held_until + interval '1 s' where job_id = '$held'`,
  ],
  [
    'log_rebuilds_state',
    'a hold off the record',
    `delete from leasehold.attempts where job_id = '$decided' and fencing_token = 3`,
  ],
  ['nothing_left_behind', 'a due job', 'select 1'],
];

function log(type: string, job: string, token: number, later = '0 s', details = '{}'): string {
  return `insert into leasehold.job_events (job_id, at, type, actor, fencing_token, details)
    values ('$${job}', clock_timestamp() + interval '${later}', '${type}', 'worker', ${token}, '{"attempt": 1, "lease_seconds": 60}'::jsonb || '${details}')`;
}

/** What a person does with an escalated job. */
function person(type: string, job: string, token: number, later = '0 s', details = '{}'): string {
  return log(type, job, token, later, `{"lane": "human", ${details.slice(1)}`.replace(', }', '}'));
}

function apply(version: number): string {
  return `insert into app.event_effects (consumer, sender, event_id, aggregate, version)
    select 'c', '', id, aggregate_id, version from leasehold.outbox_events where version = ${version};
    insert into leasehold.inbox_events (consumer, sender, event_id, at)
    select 'c', '', id::text, now() from leasehold.outbox_events where version = ${version} on conflict do nothing`;
}
