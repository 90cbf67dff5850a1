/** The inventory service: reserves stock for what it hears of orders. */
import { connect } from '@nats-io/transport-node';
import pg from 'pg';
import { consumeOrders } from './consume-orders.ts';
import { variable } from './variables.ts';

const pool = new pg.Pool({ connectionString: variable('DATABASE_URL') });
pool.on('error', () => undefined); // the database is away: the next query says so
const connection = await connect({
  servers: variable('NATS_ADDRESS'),
  maxReconnectAttempts: -1,
  reconnectTimeWait: 500,
});
const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort());

await consumeOrders({
  connection,
  pool,
  stream: variable('NATS_STREAM'),
  durable: 'inventory',
  consumer: 'inventory',
  signal: stopping.signal,
  committed: ({ aggregateId, type, version }, end) =>
    console.log(
      `${aggregateId} version ${version}, ${type}: ${end.outcome === 'applied' ? end.value : end.outcome}`,
    ),
  failed: (error) => console.log(`not now: ${error instanceof Error ? error.message : 'unknown'}`),
});
await connection.drain();
await pool.end();
