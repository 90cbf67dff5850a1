import { afterAll, beforeAll, expect, test } from 'vitest';

import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { createHttpSql } from '../support/http-sql.ts';
import type { HttpSql } from '../support/http-sql.ts';
import { fuzz } from './support/fuzz.ts';

/** Ten times as many by `npm run prove -- fuzz`. */
const REQUESTS = 2000;
const SEED = 20_261_130;
const TIMEOUT_MS = 180_000;

let database: TestDatabase;
let http: HttpSql;
beforeAll(async () => {
  database = await createTestDatabase();
  http = await createHttpSql(database);
});
afterAll(async () => {
  await http.close();
  await database.drop();
});

test(
  'case R19 case A5 malformed requests over all routes: never a 5xx, never a hang, nothing written',
  { timeout: TIMEOUT_MS },
  async () => {
    const { statuses, fault } = await fuzz({
      sql: http.sql,
      pool: database.pool,
      seed: SEED,
      requests: REQUESTS,
    });
    expect(fault).toBeUndefined();
    // The requests reach what they are meant to reach.
    for (const status of [200, 201, 400, 401, 403, 404, 405, 409, 415]) {
      expect(statuses.get(status) ?? 0, `answers with status ${status}`).toBeGreaterThan(0);
    }
  },
);
