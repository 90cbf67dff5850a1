/** A relay as a process that is killed: pass after pass, until then. */
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import pg from 'pg';
import { createNatsPublisher } from '../../../functions/publish/nats.ts';
import { relayPass } from '../../../functions/relay/relay-pass.ts';
import type { Publisher } from '../../../shared/publish/publisher.ts';
import { webIds } from '../../../shared/web-ports.ts';
import { createPgSql, NODE_PORTS } from '../../support/pg-sql.ts';

const BETWEEN_PASSES_MS = 20;
const PASS_MS = 60_000;
const MAX_ATTEMPTS = 100;

const [url = '', address = '', prefix = '', delayMs = '0'] = process.argv.slice(2);
const sql = createPgSql(new pg.Pool({ connectionString: url, max: 4 }));
const nats = createNatsPublisher({
  connect: () => connect({ servers: address, reconnect: false }),
  prefix,
  source: '/prove',
});
const publisher: Publisher = {
  ...nats,
  publish: async (event, options) => {
    if (delayMs !== '0') await pause(Number(delayMs));
    return await nats.publish(event, options);
  },
};
process.once('disconnect', () => process.exit());
for (;;) {
  await relayPass(
    { ...NODE_PORTS, sql, publisher, ids: webIds },
    { invocationEndsAt: Date.now() + PASS_MS, maxAttempts: MAX_ATTEMPTS },
  );
  await pause(BETWEEN_PASSES_MS);
}
