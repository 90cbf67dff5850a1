-- leasehold.end_request: keeps the answer of a request with an Idempotency-Key; with p_status null it frees the key, since
-- a request that failed on our side is to be tried again.
-- Example: select leasehold.end_request('shop', 'order-17', 201, '{"location": "…"}', '{"id": "…"}');
create or replace function leasehold.end_request(
  p_actor text,
  p_key text,
  p_status int,
  p_headers jsonb default null,
  p_body text default null
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_status is null then
    update leasehold.idempotency_keys
    set claimed_until = clock_timestamp()
    where actor = p_actor and key = p_key and status is null;
  else
    update leasehold.idempotency_keys
    set status = p_status,
      headers = p_headers,
      body = p_body
    where actor = p_actor and key = p_key and status is null;
  end if;
end
$$;
