/**
 * The inventory of the example as a process that a test can kill at a known point. Says `applied` or `duplicate` to its parent
 * at each commit, and, told to hold, never gets from there to the acknowledgement.
 */
import { connect } from '@nats-io/transport-node';
import pg from 'pg';
import { consumeOrders } from '../../../docs/examples/orders/consume-orders.ts';

const [url = '', address = '', durable = '', hold = ''] = process.argv.slice(2);
const connection = await connect({ servers: address });
await consumeOrders({
  connection,
  pool: new pg.Pool({ connectionString: url }),
  stream: 'EVENTS',
  durable,
  consumer: 'inventory',
  signal: new AbortController().signal,
  committed: async (event, { outcome }) => {
    process.send?.({ id: event.id, outcome });
    if (hold === 'hold') await new Promise(() => undefined);
  },
});
