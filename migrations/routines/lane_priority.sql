-- leasehold.lane_priority: the priority word of a home lane (the inverse of leasehold.priority_lane).
create or replace function leasehold.lane_priority(p_lane smallint) returns text
language sql
immutable
parallel safe
return case p_lane when 1 then 'urgent' when 2 then 'high' when 3 then 'normal' when 4 then 'low' end;
