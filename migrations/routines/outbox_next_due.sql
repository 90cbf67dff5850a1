-- leasehold.outbox_next_due: when a relay next has something to do: now, when a held event is to be tried again, or when the
-- lease of a relay that may have died runs out; null: not before something is appended. A wake-up at this instant is a hint.
-- Example: select leasehold.outbox_next_due();
create or replace function leasehold.outbox_next_due()
returns timestamptz
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
  select min(greatest(
    s.leased_until,
    case
      when leasehold.shard_has_due(s, statement_timestamp()) then statement_timestamp()
      else (select h.due_at from leasehold.outbox_holds h where h.shard = s.shard and h.due_at is not null
        order by h.due_at limit 1)
    end
  )) filter (
    where leasehold.shard_has_due(s, statement_timestamp())
      or exists (select 1 from leasehold.outbox_holds h where h.shard = s.shard and h.due_at is not null)
  )
  from leasehold.outbox_shards s
$$;
