import type pg from 'pg';
import { processOnceIn, type ProcessOutcome } from '../../../shared/inbox/process-once.ts';
import type { ReceivedEvent } from '../../../shared/inbox/read-cloud-event.ts';
import type { OrderedEvent } from '../../../shared/inbox/receipt.ts';
import { pgTransaction } from '../../../shared/transaction/pg-transaction.ts';

export type OrderEvent = ReceivedEvent & OrderedEvent;

/**
 * The effect of one event of an order on the stock, once: the record of the event and the rows it changes are committed
 * together. The policy is strict, for a changed quantity means nothing before the order is placed.
 */
export async function reserveStock(
  pool: pg.Pool,
  { consumer, event }: { readonly consumer: string; readonly event: OrderEvent },
): Promise<ProcessOutcome<string>> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const end = await processOnceIn(
      pgTransaction(client),
      { consumer, event, policy: 'strict' },
      () => apply(client, event),
    );
    await client.query('commit');
    client.release();
    return end;
  } catch (error) {
    client.release(true); // closes the connection, which rolls back
    throw error;
  }
}

/** Says what it did. */
async function apply(client: pg.PoolClient, event: OrderEvent): Promise<string> {
  const payload = event.payload as { readonly sku?: string; readonly quantity: number };
  switch (event.type) {
    case 'order.placed':
      await client.query(
        'insert into reservations (order_id, sku, quantity, changes) values ($1, $2, $3, 1)',
        [event.aggregateId, payload.sku, payload.quantity],
      );
      return await addToStock(client, event.aggregateId, payload.quantity);
    case 'order.changed': {
      const { rows } = await client.query<{ quantity: number }>(
        'select quantity from reservations where order_id = $1 for update',
        [event.aggregateId],
      );
      const before = rows[0]?.quantity ?? 0;
      await client.query(
        'update reservations set quantity = $2, changes = changes + 1 where order_id = $1',
        [event.aggregateId, payload.quantity],
      );
      return await addToStock(client, event.aggregateId, payload.quantity - before);
    }
    default:
      return 'nothing to do';
  }
}

async function addToStock(client: pg.PoolClient, orderId: string, more: number): Promise<string> {
  const { rows } = await client.query<{ sku: string; reserved: number }>(
    `insert into stock as s (sku, reserved)
     select r.sku, $2 from reservations r where r.order_id = $1
     on conflict (sku) do update set reserved = s.reserved + excluded.reserved
     returning sku, reserved`,
    [orderId, more],
  );
  return `${more} more ${rows[0]?.sku} reserved, ${rows[0]?.reserved} in all`;
}
