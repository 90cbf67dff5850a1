-- leasehold.key_lock_id: the advisory lock of one key of one queue; the length keeps ("a", "bc") from meeting ("ab", "c").
-- Locks are taken in the order of these numbers, and before any row lock. Internal.
create or replace function leasehold.key_lock_id(p_kind text, p_queue text, p_key text) returns bigint
language sql
immutable
parallel safe
return hashtextextended(format('leasehold.%s:%s:%s%s', p_kind, length(p_queue), p_queue, p_key), 0);
