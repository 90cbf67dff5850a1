import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { drain } from '../../functions/scheduled/drain.ts';
import { createHttpSql } from '../support/http-sql.ts';
import type { HttpSql } from '../support/http-sql.ts';
import { createAppHarness } from './support/app-harness.ts';
import type { Answer, AppHarness } from './support/app-harness.ts';

let app: AppHarness;
let http: HttpSql;
beforeAll(async () => {
  app = await createAppHarness();
  // Jitter at its shortest, so that the pauses between tries take no time.
  http = await createHttpSql(app.database, { ports: { random: { next: () => 0 }, log: app.log } });
});
afterAll(async () => {
  await http.close();
  await app.close();
});

async function enqueue(): Promise<Answer> {
  const body = { queue: 'q', type: 't', payload: 1 };
  const deps = app.deps({ sql: http.sql });
  return await app.callApp({ deps }, await app.request('POST', '/v1/jobs', { body }));
}

describe('case R26 a database that is away', () => {
  test.each(['25006', '57P03', '53300'])(
    '%s: 503 with Retry-After, few lines, and recovery without a restart',
    async (code) => {
      app.log.lines.length = 0;
      const before = http.endpoint.requests;
      http.endpoint.faults.next({ kind: 'sql_error', code }, { times: 1000 });
      const { status, headers, body } = await enqueue();
      expect(status).toBe(503);
      expect(body['code']).toBe('database_unavailable');
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(http.endpoint.requests - before).toBeLessThan(10);
      expect(app.log.lines.length).toBeLessThan(5);
      http.endpoint.faults.clear();
      expect((await enqueue()).status).toBe(201);
    },
  );

  test('a drain fails as a whole, and the next one works', async () => {
    const deps = app.deps({ sql: http.sql });
    http.endpoint.faults.next({ kind: 'sql_error', code: '57P03' }, { times: 1000 });
    await expect(drain(deps)).rejects.toMatchObject({ code: 'database_unavailable' });
    http.endpoint.faults.clear();
    await expect(drain(deps)).resolves.toMatchObject({ failedPokes: 0 });
  });
});

test('an enqueue whose answer was lost is stored once, and the caller sees no difference', async () => {
  http.endpoint.faults.next({ kind: 'drop_after_commit' }, { match: /enqueue/ });
  const { status, body } = await enqueue();
  expect([200, 201]).toContain(status);
  const { rows } = await app.database.pool.query('select 1 from leasehold.jobs where id = $1', [
    body['id'],
  ]);
  expect(rows).toHaveLength(1);
});
