import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';

const PRODUCERS = 4;
const EVENTS_PER_TRANSACTION = 20;
/** Transactions stay open for up to so long, so that they commit in another order than they began. */
const MAX_OPEN_MS = 150;

/**
 * Appends events to aggregates `0` and on, as several producers do: many transactions side by side, committed in any order.
 * Each producer has aggregates of its own, so that none waits for another.
 */
export async function appendEvents(
  pool: pg.Pool,
  { events, aggregates }: { readonly events: number; readonly aggregates: number },
): Promise<void> {
  const own = aggregates / PRODUCERS;
  await Promise.all(
    Array.from({ length: PRODUCERS }, async (_, producer) => {
      for (let done = 0; done < events / PRODUCERS; done += EVENTS_PER_TRANSACTION) {
        const client = await pool.connect();
        await client.query('begin');
        await client.query(
          `select leasehold.append_event(leasehold.new_job_id(), 'account', (($1 + i) % $2 * $3 + $4)::text,
             'account.changed', jsonb_build_object('producer', $4))
           from generate_series(0, $5 - 1) i`.replaceAll(/\$(\d)/g, '$$$1::int'),
          [done, own, PRODUCERS, producer, EVENTS_PER_TRANSACTION],
        );
        await pause(Math.random() * MAX_OPEN_MS);
        await client.query('commit');
        client.release();
      }
    }),
  );
}
