-- leasehold.capped: a count that was stopped at p_cap + 1, as the API shows it. Internal.
-- Example: select leasehold.capped(1001, 1000); -- {"count": 1000, "capped": true}
create or replace function leasehold.capped(p_count bigint, p_cap int) returns jsonb
language sql
immutable
return jsonb_build_object('count', least(p_count, p_cap), 'capped', p_count > p_cap);
