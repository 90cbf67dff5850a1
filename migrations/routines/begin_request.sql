-- leasehold.begin_request: takes an Idempotency-Key before a request is carried out.
--
--   p_actor        who asks; keys of different actors do not meet
--   p_key          1 to 255 characters
--   p_fingerprint  of method, path and body
--   p_seed         a fresh UUID, kept if the key is new: ids that the request makes are derived from it, so that a request
--                  that was cut off and comes again makes the same rows
--
-- Returns one row: new, with seed and created_at (the first call, or one that took over after 60 s without an end); replay,
-- with the answer on record; mismatch: the key was used for another request; or in_flight: the first call still runs.
-- Example: select * from leasehold.begin_request('shop', 'order-17', 'sha256…', gen_random_uuid());
create or replace function leasehold.begin_request(p_actor text, p_key text, p_fingerprint text, p_seed uuid)
returns table (outcome text, seed uuid, created_at timestamptz, status int, headers jsonb, body text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_hold constant interval := interval '60 seconds';
  v_created_at timestamptz;
  k leasehold.idempotency_keys;
begin
  if p_key is null or char_length(p_key) not between 1 and 255 then
    raise exception using errcode = 'LH001', message = 'idempotency_key: give 1 to 255 characters';
  end if;
  insert into leasehold.idempotency_keys (actor, key, fingerprint, seed, claimed_until)
  values (p_actor, p_key, p_fingerprint, p_seed, clock_timestamp() + v_hold)
  on conflict (actor, key) do nothing
  returning idempotency_keys.created_at into v_created_at;
  if found then
    return query select 'new', p_seed, v_created_at, null::int, null::jsonb, null::text;
    return;
  end if;
  select i.* into k
  from leasehold.idempotency_keys i
  where i.actor = p_actor and i.key = p_key
  for update;
  if k.fingerprint <> p_fingerprint then
    return query select 'mismatch', null::uuid, k.created_at, null::int, null::jsonb, null::text;
  elsif k.status is not null then
    return query select 'replay', k.seed, k.created_at, k.status, k.headers, k.body;
  elsif k.seed = p_seed or k.claimed_until < clock_timestamp() then
    -- The same call once more after a lost answer, or the first one never ended.
    update leasehold.idempotency_keys i
    set claimed_until = clock_timestamp() + v_hold
    where i.actor = p_actor and i.key = p_key;
    return query select 'new', k.seed, k.created_at, null::int, null::jsonb, null::text;
  else
    return query select 'in_flight', null::uuid, k.created_at, null::int, null::jsonb, null::text;
  end if;
end
$$;
