-- leasehold.outbox_shard: the shard (0 to 15) of an aggregate, for ever the same. Internal.
create or replace function leasehold.outbox_shard(p_aggregate_type text, p_aggregate_id text) returns smallint
language sql
immutable
parallel safe
return (hashtextextended(format('%s:%s%s', length(p_aggregate_type), p_aggregate_type, p_aggregate_id), 0) & 15)::smallint;
