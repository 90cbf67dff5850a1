/**
 * The relay as a process of its own: pass after pass. A deployment of Leasehold runs the same pass on its schedule and
 * whenever it is poked. Killed at any point, it sends again what it had not marked, under the same ids.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { createNatsPublisher } from '../../../functions/publish/nats.ts';
import { relayPass } from '../../../functions/relay/relay-pass.ts';
import { createNeonSql } from '../../../shared/database/neon-sql.ts';
import type { Log } from '../../../shared/ports.ts';
import { webClock, webIds, webRandom, webTimer } from '../../../shared/web-ports.ts';
import { variable } from './variables.ts';

const BETWEEN_PASSES_MS = 200;
const PASS_MS = 20_000;
const MAX_ATTEMPTS = 10;

const log: Log = {
  info: () => undefined,
  warn: (event) => console.log(event.replaceAll('_', ' ')),
  error: (event) => console.log(event.replaceAll('_', ' ')),
};
const ports = { clock: webClock, timer: webTimer, random: webRandom, log };
const sql = createNeonSql({ connectionString: variable('SQL_URL'), ...ports });
const publisher = createNatsPublisher({
  connect: () => connect({ servers: variable('NATS_ADDRESS'), reconnect: false, timeout: 2000 }),
  prefix: variable('NATS_PREFIX'),
  source: '/orders',
});

for (;;) {
  try {
    const done = await relayPass(
      { ...ports, sql, publisher, ids: webIds },
      { invocationEndsAt: Date.now() + PASS_MS, maxAttempts: MAX_ATTEMPTS },
    );
    if (done.published > 0) console.log(`${done.published} events published`);
    if (done.failed > 0) console.log(`${done.failed} events failed: the broker is away`);
  } catch {
    console.log('the database is away');
  }
  await pause(BETWEEN_PASSES_MS);
}
