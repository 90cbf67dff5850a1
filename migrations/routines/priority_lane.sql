-- leasehold.priority_lane: the lane of a priority class, or null for an unknown word.
create or replace function leasehold.priority_lane(p_priority text) returns smallint
language sql
immutable
parallel safe
return case p_priority when 'urgent' then 1 when 'high' then 2 when 'normal' then 3 when 'low' then 4 end::smallint;
