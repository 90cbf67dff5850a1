import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { uuidv7 } from 'uuidv7';

import { fireSchedule } from '../../shared/queue/fire-schedule.ts';
import { getSchedule } from '../../shared/queue/get-schedule.ts';
import { listSchedules } from '../../shared/queue/list-schedules.ts';
import { putSchedule } from '../../shared/queue/put-schedule.ts';
import { setSchedulePaused } from '../../shared/queue/set-schedule-paused.ts';
import type { ScheduleSettings } from '../../shared/queue/schedule.ts';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.pool.query('delete from leasehold.schedules'));

const SETTINGS: ScheduleSettings = {
  name: 'nightly',
  cron: '30 2 * * *',
  zone: 'Europe/Oslo',
  queue: 'reports',
  type: 'report',
  payload: { a: [1, null] },
  priority: 'low',
  max_attempts: 3,
  missed: 'all',
  missed_limit: 7,
  overlap: 'skip',
};
const NEXT = '2030-01-01T01:30:00.000Z';

async function put(bent: Partial<ScheduleSettings> = {}): ReturnType<typeof putSchedule> {
  const schedule = { ...SETTINGS, ...bent };
  return await putSchedule(database.sql, { schedule, nextSlotAt: NEXT, actor: 'maria' });
}

test('what is put is what is read, in the shape of the API', async () => {
  const stored = await put();
  expect(stored).toEqual({
    ...SETTINGS,
    paused: false,
    next_slot_at: NEXT,
    decided_until: expect.stringMatching(/Z$/) as string,
    last_job_id: null,
    created_at: expect.stringMatching(/Z$/) as string,
    created_by: 'maria',
    updated_at: expect.stringMatching(/Z$/) as string,
  });
  expect(await getSchedule(database.sql, { name: 'nightly' })).toEqual(stored);
  expect(await getSchedule(database.sql, { name: 'other' })).toBeUndefined();
  const { rows } = await database.pool.query(
    'select leasehold.schedule_document(s) as document from leasehold.schedules s',
  );
  expect(rows).toEqual([{ document: stored }]);
});

test('put again it is changed, and stays whose it was', async () => {
  const first = await put();
  const schedule = { ...SETTINGS, payload: 'other' };
  const second = await putSchedule(database.sql, { schedule, nextSlotAt: NEXT, actor: 'john' });
  expect(second).toMatchObject({ payload: 'other', created_by: 'maria' });
  expect(second.created_at).toBe(first.created_at);
});

test('a tick that had read it makes nothing once it is paused', async () => {
  const { decided_until: decidedUntil } = await put();
  await setSchedulePaused(database.sql, { name: 'nightly', paused: true, nextSlotAt: null });
  const slots = [{ at: NEXT, job_id: uuidv7() }];
  const firing = { name: 'nightly', decidedUntil, slots, until: NEXT, nextSlotAt: null };
  expect(await fireSchedule(database.sql, firing)).toEqual({ outcome: 'decided_elsewhere' });
  const { rows } = await database.pool.query('select from leasehold.jobs');
  expect(rows).toHaveLength(0);
});

test('listed by name in the order of bytes, each once, whatever the size of a page', async () => {
  const names = ['B', 'a', 'b', 'é', '10', '9'];
  for (const name of names) await put({ name });
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof listSchedules>> = await listSchedules(database.sql, {
      limit: 2,
      ...(cursor === null ? {} : { cursor }),
    });
    seen.push(...page.schedules.map(({ name }) => name));
    cursor = page.nextCursor;
  } while (cursor !== null);
  expect(seen).toEqual(['10', '9', 'B', 'a', 'b', 'é']);
});

describe('what the caller let through is refused by the database', () => {
  test.each([
    [{ name: '' }, 'invalid_request'],
    [{ queue: '..' }, 'invalid_request'],
    [{ type: ' x' }, 'invalid_request'],
    [{ missed_limit: 101 }, 'database_error'],
    [{ missed: 'never' as 'skip' }, 'database_error'],
    [{ overlap: 'queue' as 'skip' }, 'database_error'],
  ])('%j', async (bent, code) => {
    await expect(put(bent)).rejects.toMatchObject({ code });
    expect(await getSchedule(database.sql, { name: 'nightly' })).toBeUndefined();
  });
});
