-- leasehold.apply_grants: makes the database roles and gives each exactly its routines; every migrate calls it last.
-- Tables are private to the owner: a role sees and changes rows only through what it may execute.
--
--   leasehold_producer  adds jobs, and events to the outbox
--   leasehold_worker    claims jobs and reports on them
--   leasehold_consumer  records events that it applies, and asks for missing ones
--   leasehold_reader    looks
--   leasehold_operator  looks, and settles what people settle
--   leasehold_service   the functions themselves: all of that, and the scheduled passes
--
-- Roles belong to the whole server. Where the migrating user may not make roles, they are left out, and the owner alone
-- can call anything. Returns how many of the six roles there are.
create or replace function leasehold.apply_grants()
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_producer constant text[] := array['enqueue', 'enqueue_batch', 'new_job_id', 'append_event'];
  v_worker constant text[] := array[
    'claim', 'complete_and_claim', 'heartbeat', 'complete', 'fail', 'snooze', 'release', 'escalate', 'begin_effect',
    'settle_effect', 'record_push'
  ];
  v_consumer constant text[] := array[
    'accept_event', 'park_event', 'parked_event', 'aggregate_events', 'events_since'
  ];
  v_reader constant text[] := array[
    'get_job', 'list_jobs', 'list_dead_letters', 'list_escalations', 'matching_dead_letters', 'blocked_keys',
    'queue_document', 'list_queues', 'get_schedule', 'list_schedules', 'due_queues', 'next_wake', 'schema_version', 'job_queues', 'last_turn',
    'get_outbox_event', 'list_outbox_events', 'aggregate_events', 'events_since', 'outbox_metrics', 'outbox_next_due',
    'overview', 'metrics', 'job_history', 'job_events_since', 'job_events_before',
    'log_changes', 'board_at'
  ];
  v_operator constant text[] := v_reader || array[
    'cancel', 'edit_job', 'set_queue_paused', 'configure_queue', 'redrive', 'discard', 'note_dead_letter', 'settle_effect',
    'claim_escalated', 'settle_escalated', 'put_schedule', 'set_schedule_paused', 'delete_schedule', 'replay_events',
    'skip_events'
  ];
  v_service constant text[] := v_producer || v_worker || v_consumer || v_operator || array[
    'settle', 'due_schedules', 'fire_schedule', 'retain', 'ensure_partitions', 'take_turn', 'begin_request', 'end_request',
    'claim_events', 'settle_events', 'renew_shard', 'retain_outbox'
  ];
  v_role text;
  v_names text[];
  v_routine regprocedure;
  v_there int := 0;
begin
  foreach v_role in array array['producer', 'worker', 'consumer', 'reader', 'operator', 'service'] loop
    begin
      execute format('create role %I nologin', 'leasehold_' || v_role);
    exception
      when duplicate_object or unique_violation or insufficient_privilege then
        null;
    end;
    continue when to_regrole('leasehold_' || v_role) is null;
    v_there := v_there + 1;
    v_names := case v_role
      when 'producer' then v_producer
      when 'worker' then v_worker
      when 'consumer' then v_consumer
      when 'reader' then v_reader
      when 'operator' then v_operator
      else v_service
    end;
    execute format('grant usage on schema leasehold to %I', 'leasehold_' || v_role);
    for v_routine in
      select p.oid::regprocedure
      from pg_proc p
      where p.pronamespace = 'leasehold'::regnamespace and p.prokind = 'f'
    loop
      if (select p.proname = any (v_names) from pg_proc p where p.oid = v_routine) then
        execute format('grant execute on function %s to %I', v_routine, 'leasehold_' || v_role);
      else
        execute format('revoke execute on function %s from %I', v_routine, 'leasehold_' || v_role);
      end if;
    end loop;
  end loop;
  return v_there;
end
$$;
