import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from 'uuidv7';
import { buildWorker } from '../../../infra/local/build-worker.ts';
import { localToken } from '../../../infra/local/token.ts';
import { startWorker } from '../../../infra/local/worker.ts';
import { migrate } from '../../../infra/migrate.ts';
import { SCOPES } from '../../../shared/scopes.ts';
import { createHttpSql } from '../../support/http-sql.ts';
import type { BenchServer } from '../support/bench-database.ts';
import { watchSql, type SqlMark } from './sql-marks.ts';
import { wallClock, type StartProbe } from './start-probe.ts';

/** A job that is lost must not hang the bench. */
const LOST_MS = 10_000;

/**
 * The Worker as it is deployed, in workerd, before the `/sql` endpoint. Its handler `http.request` calls the bench back, so
 * that its start is seen from outside.
 */
export async function openPokedWorker(server: BenchServer): Promise<StartProbe> {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-build-'));
  const build = await buildWorker(folder).finally(() =>
    rmSync(folder, { recursive: true, force: true }),
  );
  const database = await server.database('latency_leasehold');
  await migrate({ connectionString: database.url, log: () => undefined });
  const http = await createHttpSql({ sqlUrl: database.url });
  const authSecret = randomBytes(32).toString('base64url');
  const worker = await startWorker({
    build,
    env: {
      DATABASE_URL: http.connectionString,
      AUTH_SECRET: authSecret,
      POKE_SECRETS: `whsec_${randomBytes(32).toString('base64')}`,
    },
    log: () => undefined,
  });
  const token = await localToken(authSecret, { subject: 'bench', scopes: SCOPES, days: 1 });

  const sql = watchSql(http.endpoint.port);
  const waiting = new Map<string, (at: number) => void>();
  const callback = createServer((request, response) => {
    waiting.get(request.url?.slice(1) ?? '')?.(wallClock());
    response.end();
  });
  callback.listen(0, '127.0.0.1');
  await once(callback, 'listening');
  const address = callback.address();
  if (address === null || typeof address === 'string') throw new TypeError('no TCP address');
  const origin = `http://127.0.0.1:${address.port}`;

  return {
    name: 'Leasehold, poke',
    enqueueOne: async () => {
      const id = uuidv7();
      const started = Promise.withResolvers<number>();
      waiting.set(id, started.resolve);
      const lost = setTimeout(
        () => started.reject(new Error(`Job ${id} was not started.`)),
        LOST_MS,
      );
      sql.reset();
      const begun = wallClock();
      const response = await fetch(`${worker.url}/v1/jobs`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          id,
          queue: 'http',
          type: 'http.request',
          payload: { url: `${origin}/${id}` },
        }),
      });
      if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
      await response.body?.cancel();
      const at = await started.promise.finally(() => clearTimeout(lost));
      waiting.delete(id);
      const parts = partsOf(begun, sql.marks, at);
      const { rows } = await database.pool.query<{ ms: number }>(
        'select (extract(epoch from created_at) * 1000)::float8 as ms from leasehold.jobs where id = $1',
        [id],
      );
      return { fromCallMs: at - begun, fromRowMs: at - (rows[0]?.ms ?? Number.NaN), parts };
    },
    close: async () => {
      sql.close();
      await worker.stop();
      callback.closeAllConnections();
      callback.close();
      await http.close();
      await database.drop();
    },
  };
}

/** The first statement adds the job, the second one claims it. */
function partsOf(
  begun: number,
  [enqueue, claim]: readonly SqlMark[],
  at: number,
): Readonly<Record<string, number>> {
  const enqueued = enqueue?.answeredAt ?? Number.NaN;
  const claimed = claim?.answeredAt ?? Number.NaN;
  return {
    'request to the Worker': (enqueue?.cameAt ?? Number.NaN) - begun,
    'enqueue statement': enqueued - (enqueue?.cameAt ?? Number.NaN),
    poke: (claim?.cameAt ?? Number.NaN) - enqueued,
    'claim statement': claimed - (claim?.cameAt ?? Number.NaN),
    'call of the handler': at - claimed,
  };
}
