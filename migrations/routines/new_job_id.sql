-- leasehold.new_job_id: a fresh UUID version 7 for producers that insert by SQL, on any Postgres from 15.
-- Make it once and keep it: a repeated enqueue with the same id is the same job.
-- Example: select leasehold.enqueue(leasehold.new_job_id(), 'emails', 'email.send', '{"to": "a@example.com"}');
create or replace function leasehold.new_job_id() returns uuid
language sql
volatile
return overlay(
  overlay(
    replace(gen_random_uuid()::text, '-', '')
    placing lpad(to_hex(floor(extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') from 1 for 12
  )
  placing '7' from 13 for 1
)::uuid;
