import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { uuidv7 } from 'uuidv7';
import { appendIn } from '../../../shared/transaction/append-in-transaction.ts';
import { enqueueIn } from '../../../shared/transaction/enqueue-in-transaction.ts';
import { pgTransaction } from '../../../shared/transaction/pg-transaction.ts';
import type { SeededRandom } from '../../simulation/world/random.ts';
import type { JobLedger } from './job-ledger.ts';
import { HANDLER_QUEUE, PULL_QUEUE, PUSH_QUEUE } from './plan.ts';

/** Jobs that are accepted and not yet ended, at most: producers wait for the workers. */
const MOST_OPEN = 1500;
const LOOK_AGAIN_MS = 50;
const PATIENCE_MS = 20_000;
const AGGREGATES = 200;
const ORDERING_KEYS = 60;

export interface Producers {
  readonly ledger: JobLedger;
  readonly random: SeededRandom;
  readonly signal: AbortSignal;
  /** Jobs that may have been produced by now, by all of them together. */
  readonly due: () => number;
  /** What jobs of the handler call. */
  readonly effectsUrl: string;
}

/** A job with an id of its own, kept for every repeat. */
function newJob(
  random: SeededRandom,
  effectsUrl: string,
): Record<string, unknown> & { id: string } {
  const queue = random.weighted({ [HANDLER_QUEUE]: 80, [PUSH_QUEUE]: 8, [PULL_QUEUE]: 12 });
  return {
    id: uuidv7(),
    queue,
    type: queue === HANDLER_QUEUE ? 'http.request' : 'effect.make',
    payload:
      queue === HANDLER_QUEUE ? { url: effectsUrl, body: { from: 'chaos' } } : { from: 'chaos' },
    priority: random.pick(['urgent', 'high', 'normal', 'normal', 'low']),
    ...(random.chance(0.05) ? { delay_seconds: random.between(1, 5) } : {}),
    ...(random.chance(0.05) ? { ordering_key: `key-${random.below(ORDERING_KEYS)}` } : {}),
  };
}

function isAhead({ ledger, due }: Producers): boolean {
  return ledger.open > MOST_OPEN || ledger.accepted >= due();
}

/** A producer over HTTP: sends a batch until somebody answers that it is kept, and only then counts it. */
export async function produceOverHttp(
  producers: Producers,
  service: { readonly url: () => string; readonly token: string },
): Promise<void> {
  const { ledger, random, signal, effectsUrl } = producers;
  while (!signal.aborted) {
    if (isAhead(producers)) {
      await pause(LOOK_AGAIN_MS);
      continue;
    }
    const jobs = Array.from({ length: random.between(10, 40) }, () => newJob(random, effectsUrl));
    const body = JSON.stringify({ jobs });
    // To the end, also after the signal: a batch of which nobody knows whether it is kept would be no proof.
    for (let kept = false; !kept;) {
      kept = await isKept(service, body, ledger);
      if (!kept) await pause(random.between(20, 200));
    }
    ledger.accept(jobs.map(({ id }) => id));
  }
}

/** Whether the service says so; a connection that breaks, also within the answer, leaves it open. */
async function isKept(
  service: { readonly url: () => string; readonly token: string },
  body: string,
  ledger: JobLedger,
): Promise<boolean> {
  try {
    const response = await fetch(`${service.url()}/v1/jobs/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    await response.arrayBuffer();
    if (response.status >= 400 && response.status < 500 && response.status !== 429) {
      ledger.fault(`a producer was refused with ${response.status}`);
    }
    return response.ok;
  } catch {
    return false;
  }
}

/**
 * A producer in SQL, through the pooler: its own row, an event of the outbox and a job, in one transaction. When the answer
 * to the commit is lost it does all of it again, with the same ids.
 */
export async function produceInSql(producers: Producers, pool: pg.Pool): Promise<void> {
  const { ledger, random, signal, effectsUrl } = producers;
  while (!signal.aborted) {
    if (isAhead(producers)) {
      await pause(LOOK_AGAIN_MS);
      continue;
    }
    const order = uuidv7();
    const event = {
      id: uuidv7(),
      aggregateType: 'order',
      aggregateId: `order-${random.below(AGGREGATES)}`,
      type: 'order.placed',
      payload: { order },
    };
    const job = {
      id: uuidv7(),
      queue: HANDLER_QUEUE,
      type: 'http.request',
      payload: { url: effectsUrl, body: { order } },
    };
    for (let kept = false; !kept;) {
      kept = await transact(pool, async (client) => {
        await client.query('insert into orders (id) values ($1) on conflict do nothing', [order]);
        await appendIn(pgTransaction(client), event, { actor: 'shop' });
        await enqueueIn(pgTransaction(client), [job], { actor: 'shop' });
      });
      if (!kept) await pause(random.between(20, 200));
    }
    ledger.accept([job.id]);
    ledger.appended += 1;
    await pause(random.between(20, 120));
  }
}

/** Whether the transaction is known to have committed. */
async function transact(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<void>,
): Promise<boolean> {
  let client: pg.PoolClient | undefined;
  try {
    client = await pool.connect();
    await client.query('begin');
    await work(client);
    await client.query('commit');
    client.release();
    return true;
  } catch {
    client?.release(true);
    return false;
  }
}
