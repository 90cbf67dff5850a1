import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { webIds } from '../../functions/web-ports.ts';
import { seededRandom } from '../unit/support/seeded-random.ts';
import { createAppHarness } from './support/app-harness.ts';
import type { AppHarness } from './support/app-harness.ts';
import { added } from './support/pull.ts';
import type { PulledJob } from './support/pull.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());

async function fill(queue: string, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1000) {
    const jobs = Array.from({ length: Math.min(1000, left) }, () => ({
      queue,
      type: 'task',
      payload: null,
    }));
    await app.call('POST', '/v1/jobs/batch', { body: { jobs } });
  }
}

async function claim(body: unknown, random?: () => number): Promise<PulledJob[]> {
  const deps = random === undefined ? app.deps() : app.deps({ random: { next: random } });
  const answer = await app.callApp({ deps }, await app.request('POST', '/v1/claims', { body }));
  return answer.body['jobs'] as PulledJob[];
}

describe('S1.15 S3.6 rotation over queues', () => {
  test.each([
    [1, 1],
    [3, 1],
  ])('a flooded queue leaves the other its share, weights %i : %i', async (flooded, other) => {
    const [x, y] = [`flood ${flooded}`, `share ${flooded}`];
    const claims = 600;
    await fill(x, 5000);
    await fill(y, claims);
    const random = seededRandom(flooded);
    const queues = [
      { name: x, weight: flooded },
      { name: y, weight: other },
    ];
    let ofOther = 0;
    for (let at = 0; at < claims; at += 1) {
      const [job] = await claim({ queues }, random);
      if (job?.queue === y) ofOther += 1;
    }
    const share = other / (flooded + other);
    expect(Math.abs(ofOther / claims / share - 1)).toBeLessThan(0.1);
  });

  test('goes on to the next queue when one is empty', async () => {
    const id = await added(app, 'has one');
    for (let at = 0; at < 5; at += 1) {
      const jobs = await claim({
        queues: ['empty 1', { name: 'empty 2', weight: 100 }, 'has one'],
      });
      expect(jobs.map((job) => job.id)).toEqual(at === 0 ? [id] : []);
    }
  });

  test('a batch is of one queue', async () => {
    await fill('left', 3);
    await fill('right', 3);
    const jobs = await claim({ queues: ['left', 'right'], limit: 10 });
    expect(new Set(jobs.map(({ queue }) => queue)).size).toBe(1);
    expect(jobs).toHaveLength(3);
  });

  test('B.3 repeated with its claim id it gives the same lease, and none of another queue', async () => {
    const first = await added(app, 'second queue');
    const ask = { queues: ['first queue', 'second queue'], claim_id: webIds.uuidv7() };
    expect(await claim(ask)).toMatchObject([{ id: first, fencing_token: '1' }]);
    // What comes later into the other queue is not given for the same claim.
    await added(app, 'first queue');
    for (let at = 0; at < 6; at += 1) {
      expect(await claim(ask)).toMatchObject([{ id: first, fencing_token: '1' }]);
    }
  });
});
