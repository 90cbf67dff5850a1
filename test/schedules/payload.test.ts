import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { fireSchedules } from '../../functions/scheduled/schedules.ts';
import type { JsonValue } from '../../shared/json-value.ts';
import { claim } from '../../shared/queue/claim.ts';
import type { ClaimedJob } from '../../shared/queue/claimed-job.ts';
import { fail } from '../../shared/queue/fail.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { redrive } from '../../shared/queue/redrive.ts';
import { createTickWorld } from './support/tick-world.ts';
import type { TickWorld } from './support/tick-world.ts';

let world: TickWorld;
beforeAll(async () => {
  world = await createTickWorld();
});
afterAll(() => world.close());

const error = { code: 'broken', message: 'It does not work.' };

const PAYLOADS: readonly (readonly [name: string, payload: JsonValue])[] = [
  [
    'an object',
    { to: 'ada@example.com', list: [1, 2.5, -0.25, true, null], nested: { a: { b: [] } } },
  ],
  ['a text that reads as JSON', '{"to": "ada@example.com"}'],
  ['a text that was encoded twice', '"\\"quoted\\""'],
  ['odd characters', 'é \u2028 \u{1f600} \\ " \n \t \u007f'],
  ['null', null],
  ['an empty text', ''],
  ['a number at the edge', 9007199254740991],
  [
    'keys that objects have of themselves',
    JSON.parse('{"__proto__": 1, "constructor": 2}') as JsonValue,
  ],
];

describe('case R2 a payload stays what it was', () => {
  test.each(PAYLOADS)('%s, through firing, retry and five redrives', async (name, payload) => {
    const queue = `queue of ${name}`;
    await world.put(name, { queue, payload, max_attempts: 2 });
    // Put again, as each deployment does: nothing is encoded once more.
    await world.put(name, { queue, payload, max_attempts: 2 });
    await world.ticksStoppedFor(name, 61);
    await fireSchedules(world.deps());
    const [first] = await world.fired(name);
    const jobId = first?.jobId ?? '';
    await world.database.pool.query('delete from leasehold.job_state where job_id <> $1', [jobId]);

    for (let round = 0; round <= 5; round += 1) {
      for (const attempt of [1, 2]) {
        const job = await claimNow(queue, jobId);
        expect(job).toMatchObject({ jobId, attempt });
        expect(job.payload).toEqual(payload);
        const { fencingToken } = job;
        await fail(world.http.sql, {
          jobId,
          owner: 'worker',
          fencingToken,
          error,
          failureClass: 'transient',
        });
      }
      const [redriven] = await redrive(world.http.sql, {
        jobIds: [jobId],
        reason: 'again',
        actor: 'maria',
      });
      expect(redriven).toMatchObject({ outcome: 'redriven' });
    }
    expect((await getJob(world.http.sql, { jobId }))?.payload).toEqual(payload);
    const { rows } = await world.database.pool.query<{ stored: unknown; same: boolean }>(
      `select j.payload as stored, j.payload = s.payload as same
       from leasehold.jobs j
       join leasehold.schedules s on s.name = $2
       where j.id = $1`,
      [jobId, name],
    );
    expect(rows).toEqual([{ stored: payload, same: true }]);
  });
});

async function claimNow(queue: string, jobId: string): Promise<ClaimedJob> {
  await world.database.pool.query(
    'update leasehold.job_state set due_at = clock_timestamp() where job_id = $1',
    [jobId],
  );
  const claimed = await claim(world.http.sql, { queue, owner: 'worker', claimId: uuidv7() });
  if (claimed.outcome !== 'claimed') throw new Error('nothing to claim');
  return claimed.job;
}
