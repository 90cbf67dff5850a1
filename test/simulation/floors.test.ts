import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { checkFloors, noCoverage } from './check-floors.ts';
import { FLOOR_FAULTS } from './floor-faults.ts';
import { floorSteps } from './floor-steps.ts';
import { installVirtualClock, type Fault, type VirtualClock } from './virtual-clock.ts';

const SEQUENCES = 60;

interface Ground {
  readonly db: TestDatabase;
  readonly clock: VirtualClock;
}

async function ground(faults: readonly Fault[] = []): Promise<Ground> {
  const db = await createTestDatabase();
  // Dead entries go when a sequence says so.
  await db.pool.query('alter table leasehold.job_state set (autovacuum_enabled = off)');
  return { db, clock: await installVirtualClock(db.pool, faults) };
}

let sound: Ground;
beforeAll(async () => {
  sound = await ground();
});
afterAll(() => sound.db.drop());

describe('claim floors', () => {
  test(`B.2 over ${SEQUENCES} random sequences of late commits, retries, heartbeats, un-pauses and clock steps no due job is hidden`, async () => {
    const coverage = noCoverage();
    // A failure prints its seed and path: put them here to see it again.
    await fc.assert(
      fc.asyncProperty(floorSteps, (sequence) =>
        checkFloors(sound.db.pool, sound.clock, sequence, coverage),
      ),
      { numRuns: SEQUENCES },
    );
    // They came to where floors matter, many times.
    expect(coverage.inForce).toBeGreaterThan(500);
    expect(coverage.ofSuspects).toBeGreaterThan(20);
    expect(coverage.floored).toBeGreaterThan(50);
  }, 300_000);

  test.each(FLOOR_FAULTS)('the property sees a fault: $name', async ({ faults, shownBy }) => {
    await checkFloors(sound.db.pool, sound.clock, shownBy, noCoverage());
    const faulty = await ground(faults);
    try {
      await expect(
        checkFloors(faulty.db.pool, faulty.clock, shownBy, noCoverage()),
      ).rejects.toThrow(/below the floor|nothing due|row from the future/);
    } finally {
      await faulty.db.drop();
    }
  });
});
