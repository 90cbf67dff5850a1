/**
 * A relay in a process of its own: one pass after another over the production driver, until it is told to end or killed. Its
 * parent hears of each pass over IPC.
 */
import { relayPass } from '../../../functions/relay/relay-pass.ts';
import type { RelayReport } from '../../../functions/relay/relay-pass.ts';
import { createNeonSql } from '../../../shared/database/neon-sql.ts';
import { createHttpPublisher } from '../../../shared/publish/http.ts';
import { Secret } from '../../../shared/secret.ts';
import { webIds } from '../../../shared/web-ports.ts';
import { NODE_PORTS } from '../../support/pg-sql.ts';

export interface RelayProcessOptions {
  readonly connectionString: string;
  readonly url: string;
  readonly key: string;
  /** How long an invocation may run: no lease outlives it. */
  readonly invocationMs: number;
}

export type RelayProcessMessage =
  { readonly kind: 'pass'; readonly report: RelayReport } | { readonly kind: 'failed' };

const IDLE_MS = 50;

const options = JSON.parse(process.argv[2] ?? '{}') as RelayProcessOptions;
let ending = false;
process.on('disconnect', () => {
  ending = true;
});

const sql = createNeonSql({ connectionString: options.connectionString, ...NODE_PORTS });
const publisher = createHttpPublisher({
  url: new URL(options.url),
  format: 'structured',
  source: '/shop',
  keys: [new Secret(options.key)],
  outbound: { fetch: (request: Request) => fetch(request) },
  ...NODE_PORTS,
});

while (!ending) {
  try {
    const report = await relayPass(
      { sql, publisher, ids: webIds, ...NODE_PORTS },
      { invocationEndsAt: Date.now() + options.invocationMs, maxAttempts: 10 },
    );
    tell({ kind: 'pass', report });
    if (report.batches === 0) await NODE_PORTS.timer.sleep(IDLE_MS);
  } catch {
    tell({ kind: 'failed' });
    await NODE_PORTS.timer.sleep(IDLE_MS);
  }
}

function tell(message: RelayProcessMessage): void {
  if (process.connected) process.send?.(message);
}
