-- leasehold.is_served: whether the jobs of a queue are the caller's business: pushed ones are everybody's, pulled ones nobody's,
-- others are of those who have handlers for the queue.
--
--   p_queue     its name
--   p_delivery  its delivery; null, for a queue without settings, means handler
--   p_served    names of the queues that the caller has handlers for, a JSON array; null: all
-- Internal: due_queues and next_wake call it.
create or replace function leasehold.is_served(p_queue text, p_delivery text, p_served jsonb) returns boolean
language sql
immutable
parallel safe
return case coalesce(p_delivery, 'handler')
  when 'push' then true
  when 'pull' then false
  else p_served is null or p_served ? p_queue
end;
