import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { complete } from '../../shared/queue/complete.ts';
import { discard } from '../../shared/queue/discard.ts';
import { fail } from '../../shared/queue/fail.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { listDeadLetters } from '../../shared/queue/list-dead-letters.ts';
import { matchingDeadLetters } from '../../shared/queue/matching-dead-letters.ts';
import { noteDeadLetter } from '../../shared/queue/note-dead-letter.ts';
import { redrive } from '../../shared/queue/redrive.ts';
import type { NewJob } from '../../shared/queue/new-job.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, claimed, eventTypes, expireLease, snapshot } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const error = { code: 'card_declined', message: 'Declined.' };

/** A job that has died of its first failure. */
async function dead(queue: string, more: Partial<NewJob> = {}): Promise<string> {
  const jobId = await added(db.sql, { queue, ...more });
  await fail(db.sql, { ...(await claimed(db.sql, queue)), error, failureClass: 'permanent' });
  return jobId;
}

const back = (jobIds: readonly string[], perSecond?: number) =>
  redrive(db.sql, {
    jobIds,
    reason: 'the bug is fixed',
    actor: 'maria',
    ...(perSecond && { perSecond }),
  });

describe('leasehold.bury', () => {
  test('S1.11 a dead job keeps everything and can be looked at', async () => {
    const jobId = await dead('kept', {
      payload: { n: 1 },
      priority: 'high',
      tags: ['vip'],
      dedupKey: 'K',
    });
    expect(await getJob(db.sql, { jobId })).toMatchObject({
      state: 'dead',
      payload: { n: 1 },
      priority: 'high',
      tags: ['vip'],
      dedup_key: 'K',
      dead: {
        reason: 'permanent_failure',
        error,
        owner: null,
        note: null,
        blocks_ordering_key: false,
      },
      attempts: [{ error, next_state: 'dead' }],
    });
  });
});

describe('leasehold.redrive and leasehold.lock_keys_of', () => {
  test('S1.11 case G3 a redriven job is the same job with fresh budgets, and returns to the same place when it dies again', async () => {
    const jobId = await added(db.sql, {
      queue: 'g3',
      maxAttempts: 3,
      priority: 'low',
      dedupKey: 'D',
      orderingKey: 'O',
      payload: { kept: true },
      headers: { traceparent: 't' },
      tags: ['x'],
    });
    let token = 0;
    for (let round = 0; round < 3; round += 1) {
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        const job = await claimed(db.sql, 'g3');
        token += 1;
        expect(job).toMatchObject({
          jobId,
          attempt,
          fencingToken: String(token),
          redrives: round,
          priority: 'low',
          payload: { kept: true },
          headers: { traceparent: 't' },
          orderingKey: 'O',
        });
        if (attempt === 2) await expireLease(db.pool, jobId);
        else {
          await fail(db.sql, { ...job, error, failureClass: 'transient' });
          if (attempt < 3) {
            await db.pool.query(
              'update leasehold.job_state set due_at = clock_timestamp() where job_id = $1',
              [jobId],
            );
          }
        }
      }
      expect(await getJob(db.sql, { jobId })).toMatchObject({
        state: 'dead',
        redrives: round,
        dedup_key: 'D',
        tags: ['x'],
      });
      expect(await back([jobId])).toEqual([{ jobId, outcome: 'redriven', clash: null }]);
      expect(await getJob(db.sql, { jobId })).toMatchObject({
        state: 'pending',
        attempt: 0,
        redrives: round + 1,
      });
    }
    const { rows } = await db.pool.query(
      `select actor, details ->> 'reason' as reason, details ->> 'redrives' as redrives
       from leasehold.job_events where job_id = $1 and type = 'redriven' order by id`,
      [jobId],
    );
    expect(rows).toEqual(
      ['1', '2', '3'].map((redrives) => ({ actor: 'maria', reason: 'the bug is fixed', redrives })),
    );
  });

  test('case R4 keys survive retry and redrive', async () => {
    const jobId = await dead('r4', { dedupKey: 'D', orderingKey: 'O' });
    await back([jobId]);
    const { rows } = await db.pool.query(
      'select dedup_key, ordering_key, key_seq is not null as placed from leasehold.job_state where job_id = $1',
      [jobId],
    );
    expect(rows).toEqual([{ dedup_key: 'D', ordering_key: 'O', placed: true }]);
  });

  test('S1.11 a dedup key that was taken meanwhile is reported for that job, and it stays dead', async () => {
    const first = await dead('clash', { dedupKey: 'K' });
    const free = await dead('clash');
    const live = await added(db.sql, { queue: 'clash', dedupKey: 'K' });
    const answers = await back([first, free]);
    expect(answers).toEqual(
      expect.arrayContaining([
        { jobId: first, outcome: 'dedup_key_taken', clash: live },
        { jobId: free, outcome: 'redriven', clash: null },
      ]),
    );
    expect((await getJob(db.sql, { jobId: first }))?.state).toBe('dead');
  });

  test('two dead jobs of one dedup key: one goes back, the other is told', async () => {
    const a = await dead('pair', { dedupKey: 'K' });
    const b = await dead('pair', { dedupKey: 'K' });
    const outcomes = (await back([a, b])).map((one) => one.outcome).sort();
    expect(outcomes).toEqual(['dedup_key_taken', 'redriven']);
  });

  test('a repeat, an unknown id and a finished job are not dead', async () => {
    const jobId = await dead('repeat');
    await back([jobId]);
    const before = await snapshot(db.pool, jobId);
    const done = await added(db.sql, { queue: 'finished' });
    await complete(db.sql, await claimed(db.sql, 'finished'));
    const unknown = uuidv7();
    const outcomes = await back([jobId, done, unknown]);
    expect(outcomes.map((one) => one.outcome)).toEqual(['not_dead', 'not_dead', 'not_dead']);
    expect(await snapshot(db.pool, jobId)).toBe(before);
  });

  test('two people redrive the same job at once: it goes back once', async () => {
    const jobId = await dead('both');
    const answers = await Promise.all([back([jobId]), back([jobId]), back([jobId])]);
    expect(
      answers
        .flat()
        .map((one) => one.outcome)
        .sort(),
    ).toEqual(['not_dead', 'not_dead', 'redriven']);
    expect((await eventTypes(db.pool, jobId)).filter((type) => type === 'redriven')).toHaveLength(
      1,
    );
  });

  test('a rate spreads the due times', async () => {
    const ids = [];
    for (let i = 0; i < 5; i += 1) ids.push(await dead('slow'));
    await back(ids, 2);
    const { rows } = await db.pool.query(
      `select extract(epoch from max(due_at) - min(due_at))::float as spread from leasehold.job_state where queue = 'slow'`,
    );
    expect(rows).toEqual([{ spread: 2 }]);
  });

  test('S1.11 reason, ids and rate are checked by name', async () => {
    const jobId = await dead('checked');
    await expect(redrive(db.sql, { jobIds: [jobId], reason: '', actor: 'm' })).rejects.toThrow(
      /reason: give 1 to 1000/,
    );
    await expect(redrive(db.sql, { jobIds: [], reason: 'r', actor: 'm' })).rejects.toThrow(
      /job_ids: give/,
    );
    const tooMany = Array.from({ length: 1001 }, () => jobId);
    await expect(redrive(db.sql, { jobIds: tooMany, reason: 'r', actor: 'm' })).rejects.toThrow(
      /1 to 1000 ids/,
    );
    await expect(redrive(db.sql, { jobIds: [jobId], reason: 'r', actor: '' })).rejects.toThrow(
      /actor/,
    );
    for (const perSecond of [0, 1001]) {
      await expect(
        redrive(db.sql, { jobIds: [jobId], reason: 'r', actor: 'm', perSecond }),
      ).rejects.toThrow(/per_second/);
    }
    await expect(discard(db.sql, { jobIds: [jobId], reason: '', actor: 'm' })).rejects.toThrow(
      /reason/,
    );
    expect((await getJob(db.sql, { jobId }))?.state).toBe('dead');
  });
});

describe('leasehold.discard', () => {
  test('S1.11 a discarded job ends as cancelled with reason and actor; a repeat changes nothing', async () => {
    const jobId = await dead('discard');
    const give = () =>
      discard(db.sql, { jobIds: [jobId], reason: 'customer left', actor: 'maria' });
    expect(await give()).toEqual([{ jobId, outcome: 'discarded' }]);
    expect(await give()).toEqual([{ jobId, outcome: 'not_dead' }]);
    expect(await getJob(db.sql, { jobId })).toMatchObject({
      state: 'cancelled',
      reason: 'customer left',
      finished_by: 'maria',
    });
    expect(await eventTypes(db.pool, jobId)).toEqual([
      'created',
      'claimed',
      'failed',
      'dead',
      'discarded',
    ]);
  });
});

describe('leasehold.note_dead_letter, list_dead_letters, matching_dead_letters', () => {
  test('S1.11 a dead job has an owner and a note', async () => {
    const jobId = await dead('noted');
    expect(
      await noteDeadLetter(db.sql, {
        jobId,
        owner: 'maria',
        note: 'asked the bank',
        actor: 'paul',
      }),
    ).toBe('noted');
    expect(await noteDeadLetter(db.sql, { jobId, note: 'bank says no', actor: 'paul' })).toBe(
      'noted',
    );
    expect((await getJob(db.sql, { jobId }))?.dead).toMatchObject({
      owner: 'maria',
      note: 'bank says no',
    });
    expect(await noteDeadLetter(db.sql, { jobId: uuidv7(), note: 'x', actor: 'paul' })).toBe(
      'not_dead',
    );
    await expect(
      noteDeadLetter(db.sql, { jobId, note: 'n'.repeat(4001), actor: 'paul' }),
    ).rejects.toThrow(/note/);
    await expect(
      noteDeadLetter(db.sql, { jobId, owner: 'o'.repeat(201), actor: 'paul' }),
    ).rejects.toThrow(/owner/);
  });

  test('pages through dead jobs, the oldest first, each once', async () => {
    const ids = [];
    for (let i = 0; i < 7; i += 1) ids.push(await dead('paged'));
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof listDeadLetters>> = await listDeadLetters(db.sql, {
        queue: 'paged',
        limit: 3,
        ...(cursor !== null && { cursor }),
      });
      seen.push(...page.jobs.map((job) => job.id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(ids);
    for (const limit of [0, 201])
      await expect(listDeadLetters(db.sql, { limit })).rejects.toThrow(/limit/);
  });

  test('a filter finds what it names', async () => {
    const mine = await dead('filter', { type: 'a' });
    await dead('filter', { type: 'b' });
    const find = (filter: object) => matchingDeadLetters(db.sql, { filter, limit: 100 });
    expect(await find({ queue: 'filter', type: 'a' })).toEqual([mine]);
    expect(await find({ queue: 'filter', reason: 'permanent_failure' })).toHaveLength(2);
    expect(await find({ queue: 'filter', reason: 'lease_expired' })).toEqual([]);
    expect(await find({ queue: 'filter', until: '2020-01-01T00:00:00Z' })).toEqual([]);
    expect(await find({ queue: 'filter', from: '2020-01-01T00:00:00Z' })).toHaveLength(2);
    expect(await matchingDeadLetters(db.sql, { filter: {}, limit: 2 })).toHaveLength(2);
  });
});
