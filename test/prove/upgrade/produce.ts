import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { uuidv7 } from 'uuidv7';
import type { LeaseholdClient } from '../../../shared/client/client.ts';
import { CONTENTION, type Ledger } from './ledger.ts';
import type { Library } from './previous-release.ts';

export const HANDLER_QUEUE = 'http';
export const PUSH_QUEUE = 'pushed';
export const PULL_QUEUE = 'pulled';
/** Its jobs are beyond every worker. */
export const HARD_QUEUE = 'hard';
/** Worked on by SQL alone. */
export const SQL_QUEUE = 'by-sql';
const QUEUES = [HANDLER_QUEUE, HANDLER_QUEUE, HANDLER_QUEUE, PUSH_QUEUE, PULL_QUEUE, PULL_QUEUE];
const PRIORITIES = ['urgent', 'high', 'normal', 'low'] as const;
const BATCH = 10;
const AGGREGATES = 40;
const ORDERING_KEYS = 12;
/** Live jobs at one time, at most: producers wait for the workers. */
const MOST_LIVE = 400;
const LOOK_EVERY_MS = 250;
const MOST_FAILURES = 10;

export interface Producers {
  readonly ledger: Ledger;
  readonly signal: AbortSignal;
  readonly pool: pg.Pool;
  readonly effectsUrl: string;
}

/** How many jobs are live, looked at now and then. */
export class Pace {
  live = 0;

  async look(pool: pg.Pool, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { rows } = await pool.query<{ live: number }>(
        'select count(*)::int as live from leasehold.job_state',
      );
      this.live = rows[0]?.live ?? 0;
      await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async wait(signal: AbortSignal): Promise<void> {
    while (this.live > MOST_LIVE && !signal.aborted) await pause(LOOK_EVERY_MS / 5);
  }
}

/** Batches over HTTP, sent by a release's own client until they are answered. */
export async function produceOverHttp(
  { ledger, signal, effectsUrl }: Producers,
  pace: Pace,
  client: LeaseholdClient,
  extra: { readonly escalate_after?: number } = {},
): Promise<void> {
  for (let turn = 0; !signal.aborted; turn += 1) {
    await pace.wait(signal);
    const queue = turn % 12 === 0 ? HARD_QUEUE : (QUEUES[turn % QUEUES.length] ?? HANDLER_QUEUE);
    const jobs = Array.from({ length: queue === HARD_QUEUE ? 1 : BATCH }, (_, index) => ({
      id: uuidv7(),
      queue,
      ...contentFor(queue, effectsUrl),
      priority: PRIORITIES[index % PRIORITIES.length] ?? 'normal',
      ...(queue !== HARD_QUEUE && index === 0
        ? { ordering_key: `key-${turn % ORDERING_KEYS}` }
        : {}),
      ...(queue === HARD_QUEUE ? extra : {}),
    }));
    const kept = await untilKept(ledger, 'enqueue over HTTP', async () => {
      await client.enqueueBatch(jobs);
    });
    if (!kept) continue;
    ledger.accept(
      queue,
      jobs.map(({ id }) => id),
    );
    await pause(40);
  }
}

/** A row of its own, an event and a job in one transaction, by a release's own library; all again until it has committed. */
export async function produceInTransaction(
  { ledger, signal, pool, effectsUrl }: Producers,
  pace: Pace,
  { appendIn, enqueueIn, pgTransaction }: Library,
): Promise<void> {
  for (let turn = 0; !signal.aborted; turn += 1) {
    await pace.wait(signal);
    const order = uuidv7();
    const event = {
      id: uuidv7(),
      aggregateType: 'order',
      aggregateId: `order-${turn % AGGREGATES}`,
      type: 'order.placed',
      payload: { order },
    };
    const job = { id: uuidv7(), queue: HANDLER_QUEUE, ...contentFor(HANDLER_QUEUE, effectsUrl) };
    const kept = await untilKept(ledger, 'a transaction of a producer', () =>
      inTransaction(pool, async (client) => {
        await client.query('insert into orders (id) values ($1) on conflict do nothing', [order]);
        await appendIn(pgTransaction(client), event, { actor: 'shop' });
        await enqueueIn(pgTransaction(client), [job], { actor: 'shop' });
      }),
    );
    if (!kept) continue;
    ledger.accept(HANDLER_QUEUE, [job.id]);
    ledger.appended += 1;
    await pause(40);
  }
}

/** One statement, prepared once on a connection that lives through the upgrade, as any language may hold it. */
export async function producePrepared(
  { ledger, signal, pool }: Producers,
  pace: Pace,
): Promise<void> {
  const client = await pool.connect();
  try {
    while (!signal.aborted) {
      await pace.wait(signal);
      const id = uuidv7();
      const kept = await untilKept(ledger, 'enqueue in SQL', async () => {
        await client.query({
          name: 'add',
          text: `select job_id, outcome from leasehold.enqueue(p_id => $1::uuid, p_queue => $2::text, p_type => 'note', p_payload => '{}')`,
          values: [id, SQL_QUEUE],
        });
      });
      if (!kept) continue;
      ledger.accept(SQL_QUEUE, [id]);
      await pause(60);
    }
  } finally {
    client.release();
  }
}

/**
 * Again until it is answered with success: a job of which nobody knows whether it is kept would prove nothing. What fails
 * for another reason than contention is a fault, and is given up in the end.
 */
export async function untilKept(
  ledger: Ledger,
  kind: string,
  send: () => Promise<void>,
): Promise<boolean> {
  for (let failures = 0; failures < MOST_FAILURES;) {
    try {
      await ledger.timed(kind, send);
      return true;
    } catch (error) {
      const code = codeOf(error);
      if (CONTENTION.includes(code)) ledger.retry(`${kind} ${code}`);
      else {
        ledger.fault(`${ledger.phase}: ${kind} failed with ${code}: ${messageOf(error)}`);
        failures += 1;
      }
      await pause(50);
    }
  }
  return false;
}

async function inTransaction(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<void>,
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await work(client);
    await client.query('commit');
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
}

function contentFor(
  queue: string,
  effectsUrl: string,
): { readonly type: string; readonly payload: { readonly url?: string } } {
  return queue === HANDLER_QUEUE
    ? { type: 'http.request', payload: { url: effectsUrl } }
    : { type: 'effect.make', payload: {} };
}

export function codeOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'code' in error) {
    return String(error.code);
  }
  return 'no code';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}
