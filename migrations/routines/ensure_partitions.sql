-- leasehold.ensure_partitions: makes the weekly partitions of attempts, finished_jobs and job_events from last week to
-- p_weeks_ahead weeks ahead (0 to 52). Partitions are ranges of job id; a version 7 id is a time, so a week of jobs.
-- Every migrate calls it. Without it rows go to the default partitions: slower to drop, never lost. A week that already
-- has rows there stays there. A long reader in the way ends it until the next call: who waits for the lock that this
-- takes holds up everybody else. Returns how many partitions were made.
-- Example: select leasehold.ensure_partitions(8);
create or replace function leasehold.ensure_partitions(p_weeks_ahead int)
returns int
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '200ms'
as $$
declare
  v_table text;
  v_week timestamptz;
  v_name text;
  v_made int := 0;
begin
  foreach v_table in array array['attempts', 'finished_jobs', 'job_events'] loop
    for v_week in
      select generate_series(
        date_trunc('week', now(), 'UTC') - interval '7 days',
        date_trunc('week', now(), 'UTC') + make_interval(days => 7 * least(greatest(p_weeks_ahead, 0), 52)),
        interval '7 days'
      )
    loop
      v_name := format('%s_%s', v_table, to_char(v_week at time zone 'UTC', 'YYYYMMDD'));
      continue when to_regclass('leasehold.' || v_name) is not null;
      begin
        execute format(
          'create table leasehold.%I partition of leasehold.%I for values from (%L) to (%L)',
          v_name,
          v_table,
          leasehold.job_id_floor(v_week),
          leasehold.job_id_floor(v_week + interval '7 days')
        );
        if v_table = 'job_events' then
          execute format(
            'create trigger %I before truncate on leasehold.%I for each statement execute function leasehold.refuse_change()',
            v_name || '_no_truncate',
            v_name
          );
        end if;
        v_made := v_made + 1;
      exception
        when check_violation or duplicate_table then
          null;
        when lock_not_available then
          return v_made;
      end;
    end loop;
  end loop;
  return v_made;
end
$$;
