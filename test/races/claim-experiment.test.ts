import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { runClaimExperiment } from './claim-experiment.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

describe('why a claim locks with skip locked: 4 claimers, 8 jobs', () => {
  test('S3.1 select, then update runs every job four times: 24 duplicates', async () => {
    expect(await runClaimExperiment(db.pool, 'select, then update')).toEqual({
      way: 'select, then update',
      executions: Array(8).fill(4),
      duplicates: 24,
      waits: 0,
    });
  });

  test('S3.1 for update runs every job once, but the claimers queue behind each other', async () => {
    expect(await runClaimExperiment(db.pool, 'for update')).toEqual({
      way: 'for update',
      executions: Array(8).fill(1),
      duplicates: 0,
      waits: 12,
    });
  });

  test('S3.1 skip locked runs every job once and nobody waits', async () => {
    expect(await runClaimExperiment(db.pool, 'skip locked')).toEqual({
      way: 'skip locked',
      executions: Array(8).fill(1),
      duplicates: 0,
      waits: 0,
    });
  });
});
