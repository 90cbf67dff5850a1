-- leasehold.unpark: lets the next jobs of an ordering key go, as many as the key has room for; none while a dead job blocks
-- the key. The caller holds the key's lock, so nobody can miss the change. Internal. Returns how many went.
-- That holds where each statement sees what was committed before it. A transaction at another isolation level goes by what
-- it saw at its start: it would park a job behind one that has ended since, for ever. It is refused, with LH001.
create or replace function leasehold.unpark(p_queue text, p_key text, p_actor text)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_open int;
  v_gone int := 0;
  q leasehold.queues;
  r leasehold.job_state;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using
      errcode = 'LH001',
      message = 'ordering_key: its jobs are added and ended at isolation level read committed only',
      hint = 'An older snapshot does not show which jobs of the key have ended since.';
  end if;
  if exists (select 1 from leasehold.dead_letters d where d.queue = p_queue and d.blocks_key = p_key) then
    return 0;
  end if;
  select * into q from leasehold.queues where name = p_queue;
  select count(*)
  into v_open
  from leasehold.job_state s
  where s.queue = p_queue and s.ordering_key = p_key and s.lane < 9;
  while v_open + v_gone < coalesce(q.key_concurrency, 1) loop
    select s.*
    into r
    from leasehold.job_state s
    where s.queue = p_queue and s.ordering_key = p_key and s.lane = 9
    order by s.key_seq
    limit 1;
    exit when r.job_id is null;
    update leasehold.job_state s
    set lane = s.home_lane,
      due_at = leasehold.key_start_at(q, p_key, greatest(s.due_at, clock_timestamp()))
    where s.job_id = r.job_id;
    insert into leasehold.job_events (job_id, type, actor, fencing_token)
    values (r.job_id, 'unparked', p_actor, r.fencing_token);
    v_gone := v_gone + 1;
  end loop;
  return v_gone;
end
$$;
