import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { uuidv7 } from 'uuidv7';
import type { OrderedConsumer } from '../../../shared/inbox/process-in-order.ts';
import { processOnceIn } from '../../../shared/inbox/process-once.ts';
import { pgTransaction } from '../../../shared/transaction/pg-transaction.ts';
import type { Transaction } from '../../../shared/transaction/statement.ts';

/** What the consumer of these tests is sent. */
export interface OrderEvent {
  readonly id: string;
  readonly aggregateType: string;
  readonly aggregateId: string;
  readonly version: number;
}

/** A pool where each statement is a transaction of its own. */
export function poolConnection(pool: pg.Pool): Transaction {
  return { run: ({ text, values }) => pool.query(text, [...values]) };
}

/** The consumer's own table: what it applied, in the order of the commits. */
export async function createApplied(pool: pg.Pool): Promise<void> {
  await pool.query(
    `create table applied (
       at bigint generated always as identity, consumer text, aggregate text, version int, event_id text
     )`,
  );
}

export async function appliedVersions(
  pool: pg.Pool,
  { consumer, aggregate }: { readonly consumer: string; readonly aggregate: string },
): Promise<number[]> {
  const { rows } = await pool.query<{ version: number }>(
    'select version from applied where consumer = $1 and aggregate = $2 order by at',
    [consumer, aggregate],
  );
  return rows.map(({ version }) => version);
}

/** A strict consumer with a row of `applied` for an effect. */
export function orderedConsumer(
  pool: pg.Pool,
  overrides: Partial<OrderedConsumer<OrderEvent>> = {},
): OrderedConsumer<OrderEvent> {
  const consumer = overrides.consumer ?? randomUUID();
  return {
    consumer,
    connection: poolConnection(pool),
    apply: async (event) => {
      const client = await pool.connect();
      try {
        await client.query('begin');
        const end = await processOnceIn(
          pgTransaction(client),
          { consumer, sender: overrides.sender, event, policy: 'strict' },
          async () => {
            await client.query(
              'insert into applied (consumer, aggregate, version, event_id) values ($1, $2, $3, $4)',
              [consumer, event.aggregateId, event.version, event.id],
            );
          },
        );
        await client.query('commit');
        return end;
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    },
    ...overrides,
  };
}

/** Events 1 to `count` of one aggregate, in their order. */
export function orderEvents(count: number, aggregateId: string = randomUUID()): OrderEvent[] {
  return Array.from({ length: count }, (_, at) => ({
    id: uuidv7(),
    aggregateType: 'order',
    aggregateId,
    version: at + 1,
  }));
}

/** Puts them into the outbox. */
export async function append(pool: pg.Pool, events: readonly OrderEvent[]): Promise<void> {
  for (const { id, aggregateType, aggregateId, version } of events) {
    await pool.query('select leasehold.append_event($1, $2, $3, $4, $5, $6)', [
      id,
      aggregateType,
      aggregateId,
      'order.changed',
      { version },
      version,
    ]);
  }
}
