-- leasehold.refresh_claim_floors: writes the next row of a queue's claim floors, or none where none is needed.
--
--   p_queue  the queue
--   p_full   read without the floors of the row before, whatever that costs (default: only now and then)
--
-- The rule. Row i holds, for each lane, least(smallest due_at of a live job that snapshot i sees, clock of row i - 1).
-- The clock of a row is the start of the transaction that wrote it; its next_xid is that transaction's id, so that every id
-- from there on was given out after that clock. (The end of a snapshot would not do: Postgres counts it from the last id that
-- has ended, and a writer that is older than the row but newer than that one would pass for a later one.)
-- Why no live job lies below row i, other than one of a suspect:
--   * A job that snapshot i sees is not below it: the smallest of them bounds it. Looking only from the floor of row i - 1 on
--     finds the smallest, because nothing lay below that one.
--   * A job that snapshot i does not see comes from a transaction that was writing then, or began to write later. Whoever
--     puts a job into a lane has its transaction id before it reads the clock, and sets due_at to that clock or later. So
--     whoever has an id >= next_xid of row i - 1 cannot go below the clock of row i - 1.
--   * What is left are transactions with an older id that still write at snapshot i: the suspects, kept with the row. Once
--     one has ended, a read without floors rules it out: at the next refresh, or at once by a claim that would else answer
--     "nothing due".
-- So a job that commits late waits for one refresh at most, and an idle claim never misses one. After a clock stepped back
-- the newest row lies in the future: it is not used, and whoever claims first starts the ledger afresh. If nobody claims
-- before the clock is there again, what was added meanwhile waits for the next read without floors.
--
-- Reads without floors are made at most every ten seconds and for a fiftieth of the time (a microsecond an entry), unless a
-- suspect has ended. One that walks few entries ends the use of floors: the old snapshot is gone.
-- One caller at a time a queue; others go on with what is there. Nothing is written from inside a long transaction, whose
-- row would show late and be old, or at another isolation level, whose snapshot is. Internal: claim calls it.
create or replace function leasehold.refresh_claim_floors(p_queue text, p_full boolean default false)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_none constant timestamptz[] := array_fill('-infinity'::timestamptz, array[5]);
  v_many constant int := 200;
  v_at constant timestamptz := transaction_timestamp();
  v_from timestamptz[];
  v_floors timestamptz[];
  v_snapshot pg_snapshot;
  v_entries bigint;
  v_full boolean := p_full;
  p leasehold.claim_floors;
begin
  if current_setting('transaction_isolation') <> 'read committed'
    or clock_timestamp() > v_at + interval '1 second'
    or not pg_try_advisory_xact_lock(leasehold.key_lock_id('floors', p_queue, ''))
  then
    return;
  end if;

  select f.* into p from leasehold.claim_floors f where f.queue = p_queue order by f.id desc limit 1;
  if p.id is null or p.at > clock_timestamp() then
    -- Only a clock and an id to go by; the next row has the first floors.
    insert into leasehold.claim_floors (queue, at, floors, next_xid) values (p_queue, v_at, v_none, pg_current_xact_id());
    return;
  end if;
  if p.at > v_at - interval '50 milliseconds' and (p.at > v_at or not p_full) then
    return; -- somebody else came first
  end if;

  v_full := v_full
    or p.full_at is null
    or p.floors is null
    or p.at < v_at - interval '60 seconds'
    or v_at > p.full_at + make_interval(secs => greatest(10, p.full_entries * 50e-6))
    or (
      v_at > p.full_at + make_interval(secs => p.full_entries * 50e-6)
      and exists (
        select 1 from unnest(p.suspects) u (xid) where pg_visible_in_snapshot(u.xid, pg_current_snapshot())
      )
    );
  v_from := case when v_full then v_none else p.floors end;
  v_entries := pg_stat_get_xact_tuples_returned('leasehold.job_state_claim'::regclass);
  select
    pg_current_snapshot(),
    array[
      least(p.at, (select s.due_at from leasehold.job_state s
        where s.queue = p_queue and s.lane = 0 and s.due_at >= v_from[1] and s.due_at < p.at order by s.due_at limit 1)),
      least(p.at, (select s.due_at from leasehold.job_state s
        where s.queue = p_queue and s.lane = 1 and s.due_at >= v_from[2] and s.due_at < p.at order by s.due_at limit 1)),
      least(p.at, (select s.due_at from leasehold.job_state s
        where s.queue = p_queue and s.lane = 2 and s.due_at >= v_from[3] and s.due_at < p.at order by s.due_at limit 1)),
      least(p.at, (select s.due_at from leasehold.job_state s
        where s.queue = p_queue and s.lane = 3 and s.due_at >= v_from[4] and s.due_at < p.at order by s.due_at limit 1)),
      least(p.at, (select s.due_at from leasehold.job_state s
        where s.queue = p_queue and s.lane = 4 and s.due_at >= v_from[5] and s.due_at < p.at order by s.due_at limit 1))
    ]
  into v_snapshot, v_floors;
  v_entries := pg_stat_get_xact_tuples_returned('leasehold.job_state_claim'::regclass) - v_entries;

  if v_full and v_entries < v_many then
    if p.floors is null then
      return;
    end if;
    v_floors := null;
  end if;
  insert into leasehold.claim_floors (queue, at, floors, next_xid, suspects, full_at, full_entries)
  values (
    p_queue,
    v_at,
    v_floors,
    pg_current_xact_id(),
    array(select x.xid from pg_snapshot_xip(v_snapshot) x (xid) where x.xid < p.next_xid)
      || array(
        select u.xid from unnest(p.suspects) u (xid) where not v_full and pg_visible_in_snapshot(u.xid, v_snapshot)
      ),
    case when v_full then v_at else p.full_at end,
    case when v_full then v_entries else p.full_entries end
  );
end
$$;
