-- leasehold.log_place: where a cursor of the event log stands: a transaction, and an id in each of the two logs. At one
-- transaction job events come before queue events, so a cursor of a queue event has all job events behind it.
--
--   p_cursor  the cursor of an event
--
-- Raises LH001 for what is no cursor; whether its transaction can be one of this database is the caller's to check. Internal:
-- settled_log and newest_log call it. Example: select * from leasehold.log_place('771_j42');
create or replace function leasehold.log_place(
  p_cursor text,
  out xact xid8,
  out job_event bigint,
  out queue_event bigint
)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_cursor !~ '^[0-9]{1,19}_[jq][0-9]{1,18}$' then
    raise exception using errcode = 'LH001', message = 'cursor: must be the cursor of an event';
  end if;
  xact := split_part(p_cursor, '_', 1)::xid8;
  job_event := substr(split_part(p_cursor, '_', 2), 2)::bigint;
  queue_event := 0;
  if split_part(p_cursor, '_', 2) like 'q%' then
    queue_event := job_event;
    job_event := 9223372036854775807;
  end if;
end
$$;
