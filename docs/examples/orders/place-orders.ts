import type pg from 'pg';
import { uuidv7 } from 'uuidv7';
import { appendIn } from '../../../shared/transaction/append-in-transaction.ts';
import { pgTransaction } from '../../../shared/transaction/pg-transaction.ts';

export interface Order {
  readonly id: string;
  readonly sku: string;
  readonly quantity: number;
}

/** A change of an order and the event that tells of it, in one transaction: both are there, or neither is. */
export async function placeOrder(pool: pg.Pool, order: Order): Promise<boolean> {
  return await inTransaction(pool, async (client) => {
    const placed = await client.query(
      `insert into orders (id, sku, quantity, state) values ($1, $2, $3, 'placed') on conflict do nothing`,
      [order.id, order.sku, order.quantity],
    );
    if (placed.rowCount === 0) return false; // placed before the service was killed
    const { sku, quantity } = order;
    await append(client, order.id, 'order.placed', { sku, quantity });
    return true;
  });
}

export async function changeQuantity(
  pool: pg.Pool,
  orderId: string,
  quantity: number,
): Promise<boolean> {
  return await inTransaction(pool, async (client) => {
    const changed = await client.query(
      `update orders set quantity = $2, state = 'changed' where id = $1 and state = 'placed'`,
      [orderId, quantity],
    );
    if (changed.rowCount === 0) return false;
    await append(client, orderId, 'order.changed', { quantity });
    return true;
  });
}

async function append(
  client: pg.PoolClient,
  aggregateId: string,
  type: string,
  payload: Readonly<Record<string, string | number>>,
): Promise<void> {
  const event = { id: uuidv7(), aggregateType: 'order', aggregateId, type, payload };
  await appendIn(pgTransaction(client), event, { actor: 'orders' });
}

async function inTransaction<Value>(
  pool: pg.Pool,
  run: (client: pg.PoolClient) => Promise<Value>,
): Promise<Value> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const value = await run(client);
    await client.query('commit');
    client.release();
    return value;
  } catch (error) {
    client.release(true); // closes the connection, which rolls back
    throw error;
  }
}
