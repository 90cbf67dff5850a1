-- leasehold.iso: an instant as ISO 8601 in UTC with milliseconds, whatever the session's time zone.
create or replace function leasehold.iso(p_at timestamptz) returns text
language sql
stable
return to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
