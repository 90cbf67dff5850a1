import type pg from 'pg';

/**
 * What the event log says of double work, a line a fault; empty when all is well. A job is claimed while the lease before
 * has not ended in the log, its fencing tokens do not grow, or it ends twice.
 */
export async function doubleLeases(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ fault: string }>(
    `with leases as (
       select e.job_id, e.type, e.fencing_token,
         lag(e.type) over w as before,
         max(e.fencing_token) over (w rows between unbounded preceding and 1 preceding) as token_before
       from leasehold.job_events e
       where e.type in ('claimed', 'completed', 'failed', 'snoozed', 'released', 'lease_expired')
       window w as (partition by e.job_id order by e.id)
     )
     select format('%s claimed while it was leased', job_id) as fault
     from leases where type = 'claimed' and before = 'claimed'
     union all
     select format('%s claimed under token %s after %s', job_id, fencing_token, token_before)
     from leases where type = 'claimed' and fencing_token <= token_before
     union all
     select format('%s completed %s times', job_id, count(*))
     from leases where type = 'completed' group by job_id having count(*) > 1`,
  );
  return rows.map(({ fault }) => fault);
}
