/** The orders service: places orders, and changes every second one. Killed and started again, it goes on where it was. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { variable } from './variables.ts';
import { changeQuantity, placeOrder } from './place-orders.ts';

const SKUS = ['keyboard', 'lamp', 'teapot'];
const EVERY_MS = 150;
const AGAIN_AFTER_MS = 500;

const pool = new pg.Pool({ connectionString: variable('DATABASE_URL') });
pool.on('error', () => undefined); // the database is away: the next query says so
const count = Number(variable('EXAMPLE_ORDERS'));

for (let at = 1; at <= count; at += 1) {
  const id = `order-${String(at).padStart(4, '0')}`;
  const quantity = 1 + (at % 5);
  const sku = SKUS[at % SKUS.length] ?? 'teapot';
  if (await untilDone(() => placeOrder(pool, { id, sku, quantity }))) {
    say(`${id} placed: ${quantity} of ${sku}`);
    await pause(EVERY_MS);
  }
  if (at % 2 === 0 && (await untilDone(() => changeQuantity(pool, id, quantity + 2)))) {
    say(`${id} changed: ${quantity + 2} now`);
    await pause(EVERY_MS);
  }
}
say(`all ${count} orders are placed`);
await pool.end();

/** A commit whose answer was lost is tried again too: the order is then there already. */
async function untilDone(step: () => Promise<boolean>): Promise<boolean> {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      say(`not now: ${error instanceof Error ? error.message : String(error)}`);
      await pause(AGAIN_AFTER_MS);
    }
  }
}

function say(line: string): void {
  console.log(line);
}
