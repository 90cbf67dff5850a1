-- leasehold.renew_shard: a relay that is still publishing extends the lease of its shard.
--
--   p_shard, p_owner, p_fencing_token  the lease, unexpired
--   p_lease_seconds                    1 to 3600 from now
--
-- Returns one row: held with the new end, or lease_lost: stop publishing.
-- Raises LH001. Example: select * from leasehold.renew_shard(3::smallint, 'relay-1', 7, 30);
create or replace function leasehold.renew_shard(
  p_shard smallint,
  p_owner text,
  p_fencing_token bigint,
  p_lease_seconds int default 30
)
returns table (outcome text, leased_until timestamptz)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if p_lease_seconds is null or p_lease_seconds not between 1 and 3600 then
    raise exception using errcode = 'LH001', message = 'lease_seconds: must be between 1 and 3600';
  end if;
  return query
  update leasehold.outbox_shards h
  set leased_until = greatest(h.leased_until, clock_timestamp() + make_interval(secs => p_lease_seconds))
  where h.shard = p_shard
    and h.owner = p_owner
    and h.fencing_token = p_fencing_token
    and h.leased_until > clock_timestamp()
  returning 'held', h.leased_until;
  if not found then
    return query select 'lease_lost', null::timestamptz;
  end if;
end
$$;
