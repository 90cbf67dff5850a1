import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { replay } from './event-replay.ts';
import { runSequence } from './run-sequence.ts';
import { steps } from './steps.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const SEQUENCES = 200;

describe('the job model', () => {
  test(`${SEQUENCES} random sequences of all transitions agree with a small model and with their own event log`, async () => {
    let ran = 0;
    // A failure prints its seed and path: put them here to see it again.
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(null, 2, 3), async (sequence, escalateAfter) => {
        await runSequence(db.pool, db.sql, sequence, escalateAfter);
        ran += 1;
      }),
      { numRuns: SEQUENCES },
    );
    expect(ran).toBe(SEQUENCES);
  }, 300_000);

  test('the log refuses what cannot have happened', () => {
    const event = (type: string, token: number | null = null) => ({
      type,
      fencing_token: token === null ? null : String(token),
    });
    const created = event('created');
    expect(replay([created, event('claimed', 1), event('completed', 1)])).toMatchObject({
      state: 'succeeded',
      token: 1,
    });
    for (const impossible of [
      [event('claimed', 1)],
      [created, event('completed', 0)],
      [created, event('claimed', 1), event('claimed', 2)],
      [created, event('claimed', 1), event('failed', 1), event('claimed', 1)],
      [created, event('claimed', 1), event('completed', 1), event('claimed', 2)],
      [created, event('redriven', 0)],
      [created, event('escalated', 0), event('claimed', 1)],
      [created, event('claimed', 1), event('escalated', 2)],
      [created, event('escalated', 0), { ...event('completed', 0), lane: 'human' }],
    ]) {
      expect(() => replay(impossible)).toThrow(/cannot follow/);
    }
  });
});
