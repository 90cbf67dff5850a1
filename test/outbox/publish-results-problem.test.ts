import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

describe('leasehold.publish_results_problem', () => {
  const error = { code: 'x', message: 'X.' };
  const id = uuidv7();
  test.each([
    ['results', {}],
    ['results', Array.from({ length: 501 }, () => ({ id, outcome: 'published' }))],
    ['results[0]', [null]],
    ['results[0]', [{ id: 'x', outcome: 'published' }]],
    ['results[0].outcome', [{ id, outcome: 'sent' }]],
    ['results[1].outcome', [{ id, outcome: 'published' }, { id }]],
    ['results[0].attempt', [{ id, outcome: 'failed', error }]],
    ['results[0].error', [{ id, outcome: 'failed', attempt: 1 }]],
    ['results[0].error', [{ id, outcome: 'failed', attempt: 1, error: { code: 'x' } }]],
    ['results[0].away', [{ id, outcome: 'failed', attempt: 1, error, away: 'yes' }]],
    [
      'results[0].retry_after_ms',
      [{ id, outcome: 'failed', attempt: 1, error, retry_after_ms: -1 }],
    ],
  ])('names %s %#', async (path, results) => {
    const { rows } = await db.pool.query<{ problem: string }>(
      'select leasehold.publish_results_problem($1) as problem',
      [JSON.stringify(results)],
    );
    expect(rows[0]?.problem.split(': ')[0]).toBe(path);
  });
});
