import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { tick } from '../../functions/scheduled/tick.ts';
import type { Clock } from '../../shared/ports.ts';
import { createAppHarness } from './support/app-harness.ts';
import type { Answer, AppHarness, CallOptions } from './support/app-harness.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.database.pool.query('delete from leasehold.schedules; delete from leasehold.turns');
});

const NIGHTLY = {
  cron: '30 2 * * *',
  zone: 'Europe/Oslo',
  queue: 'reports',
  type: 'report.nightly',
  payload: { day: 'yesterday' },
};

async function put(name: string, body: unknown, options: CallOptions = {}): Promise<Answer> {
  return await app.call('PUT', `/v1/schedules/${encodeURIComponent(name)}`, { body, ...options });
}

describe('PUT /v1/schedules/{name}', () => {
  test('makes a schedule, with defaults, and shows the next five slots', async () => {
    const { status, body } = await put('nightly', NIGHTLY);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: 'nightly',
      ...NIGHTLY,
      priority: 'normal',
      max_attempts: null,
      missed: 'latest',
      missed_limit: 10,
      overlap: 'allow',
      paused: false,
      last_job_id: null,
      created_by: 'route-tests',
    });
    const slots = body['next_slots'] as string[];
    expect(slots).toHaveLength(5);
    expect(slots[0]).toBe(body['next_slot_at']);
    expect(slots.every((slot) => /T0[01]:30:00\.000Z$/.test(slot))).toBe(true);
  });

  test('changes it to exactly what is given', async () => {
    await put('nightly', { ...NIGHTLY, missed: 'all', missed_limit: 3, overlap: 'skip' });
    const { body } = await put('nightly', { ...NIGHTLY, cron: '@hourly', priority: 'low' });
    expect(body).toMatchObject({
      cron: '@hourly',
      priority: 'low',
      missed: 'latest',
      missed_limit: 10,
      overlap: 'allow',
    });
    expect(body['next_slots']).toContainEqual(expect.stringMatching(/:00:00\.000Z$/));
  });

  test.each(['a/b', 'é ünï', '日本', "x'; drop table jobs"])('takes the name %j', async (name) => {
    expect((await put(name, NIGHTLY)).body['name']).toBe(name);
    expect((await app.call('GET', `/v1/schedules/${encodeURIComponent(name)}`)).status).toBe(200);
  });

  test.each([
    ['cron', { cron: '0 0 30 2 *' }, 'must fire at some time'],
    ['cron', { cron: '0 0 31 4 *' }, 'must fire at some time'],
    ['cron', { cron: '60 * * * *' }, 'has a wrong minute: it takes 0 to 59'],
    ['cron', { cron: '* * * * * *' }, 'must have five fields'],
    ['cron', { cron: '@reboot' }, 'cannot be "@reboot"'],
    ['cron', { cron: 5 }, 'must have five fields'],
    ['cron', { cron: undefined }, 'is required'],
    ['zone', { zone: 'EST5' }, 'must be the IANA name of a time zone'],
    ['zone', { zone: 'Mars/Base' }, 'must be the IANA name of a time zone'],
    ['zone', { zone: undefined }, 'is required'],
    ['queue', { queue: '..' }, 'must be 1 to 128 characters'],
    ['type', { type: '' }, 'must be 1 to 128 characters'],
    ['payload', { payload: undefined }, 'is required'],
    ['payload', { payload: 'x'.repeat(300_000) }, 'must be at most'],
    ['priority', { priority: 'soon' }, 'must be one of'],
    ['max_attempts', { max_attempts: 101 }, 'must be an integer from 1 to 100'],
    ['missed', { missed: 'none' }, 'must be one of "skip", "latest", "all"'],
    ['missed_limit', { missed_limit: 0 }, 'must be an integer from 1 to 100'],
    ['missed_limit', { missed_limit: 101 }, 'must be an integer from 1 to 100'],
    ['overlap', { overlap: 'queue' }, 'must be one of "allow", "skip"'],
    ['timezone', { timezone: 'UTC' }, 'is not a known field'],
  ])('case H3 400 names %s and its rule: %j', async (path, bent, rule) => {
    const { status, body } = await put('nightly', { ...NIGHTLY, ...bent });
    expect([status, body['code']]).toEqual([400, 'invalid_request']);
    expect(body['problems']).toEqual([{ path, message: expect.stringContaining(rule) as string }]);
    expect((await app.call('GET', '/v1/schedules/nightly')).status).toBe(404);
  });

  test('case H3 29 February is accepted, and its next slots are leap years', async () => {
    const { status, body } = await put('leap', { ...NIGHTLY, cron: '0 0 29 2 *', zone: 'UTC' });
    expect(status).toBe(200);
    const years = (body['next_slots'] as string[]).map((slot) => Number(slot.slice(0, 4)));
    expect(years.map((year) => year % 4)).toEqual([0, 0, 0, 0, 0]);
  });

  test.each(['%20x', '%0A', 'x'.repeat(129)])('refuses the name %s', async (name) => {
    const { status, body } = await app.call('PUT', `/v1/schedules/${name}`, { body: NIGHTLY });
    expect(status).toBe(400);
    expect(body['problems']).toMatchObject([{ path: 'name' }]);
  });
});

describe('now is a matter of the database clock', () => {
  test.each([
    ['minutes ahead', 200_000],
    ['minutes behind', -200_000],
  ])('a function whose clock is %s loses no slot', async (_, skew) => {
    const clock: Clock = { now: () => Date.now() + skew };
    const request = await app.request('PUT', '/v1/schedules/minutely', {
      body: { ...NIGHTLY, cron: '* * * * *' },
    });
    const { body } = await app.callApp({ deps: app.deps({ clock }) }, request);
    const decided = Date.parse(String(body['decided_until']));
    expect(Date.parse(String(body['next_slot_at']))).toBeLessThanOrEqual(decided + 60_000);
  });
});

describe('the other routes', () => {
  test('list by name, by pages', async () => {
    for (const name of ['c', 'a', 'b']) await put(name, NIGHTLY);
    const first = await app.call('GET', '/v1/schedules?limit=2');
    expect(namesOf(first)).toEqual(['a', 'b']);
    expect(first.body['next_cursor']).toBe('b');
    // Two hundred of the largest would be more than an answer should hold.
    expect((first.body['schedules'] as object[])[0]).not.toHaveProperty('payload');
    const second = await app.call('GET', '/v1/schedules?limit=2&cursor=b');
    expect(namesOf(second)).toEqual(['c']);
    expect(second.body['next_cursor']).toBeNull();
    expect((await app.call('GET', '/v1/schedules?limit=0')).status).toBe(400);
    expect((await app.call('GET', '/v1/schedules?page=2')).status).toBe(400);
  });

  test('pause and resume', async () => {
    await put('nightly', NIGHTLY);
    const paused = await app.call('POST', '/v1/schedules/nightly/pause');
    expect(paused.body).toMatchObject({ paused: true, next_slot_at: null, next_slots: [] });
    const resumed = await app.call('POST', '/v1/schedules/nightly/resume');
    expect(resumed.body['paused']).toBe(false);
    expect(resumed.body['next_slots']).toHaveLength(5);
    expect(resumed.body['next_slot_at']).toBe((resumed.body['next_slots'] as string[])[0]);
  });

  test('delete', async () => {
    await put('nightly', NIGHTLY);
    expect((await app.call('DELETE', '/v1/schedules/nightly')).status).toBe(204);
    expect((await app.call('DELETE', '/v1/schedules/nightly')).status).toBe(404);
  });

  test.each([
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/pause'],
    ['POST', '/resume'],
  ])('%s %s of a schedule that is not there: 404', async (method, path) => {
    const { status, body } = await app.call(method, `/v1/schedules/nothing${path}`);
    expect([status, body['code']]).toEqual([404, 'not_found']);
  });

  test('a zone that this runtime does not know is still shown', async () => {
    await put('nightly', NIGHTLY);
    await app.database.pool.query("update leasehold.schedules set zone = 'Mars/Base'");
    const { status, body } = await app.call('GET', '/v1/schedules/nightly');
    expect([status, body['zone'], body['next_slots']]).toEqual([200, 'Mars/Base', []]);
  });
});

describe('who may', () => {
  test.each([
    ['GET', '', 'enqueue work operate'],
    ['PUT', '/nightly', 'enqueue work read'],
    ['DELETE', '/nightly', 'enqueue work read'],
    ['POST', '/nightly/pause', 'enqueue work read'],
    ['POST', '/nightly/resume', 'enqueue work read'],
  ])('%s %s is refused with %s', async (method, path, scope) => {
    await put('nightly', NIGHTLY);
    const body = method === 'PUT' ? { ...NIGHTLY, cron: '@daily' } : undefined;
    const { status } = await app.call(method, `/v1/schedules${path}`, { scope, body });
    expect(status).toBe(403);
    expect((await app.call('GET', '/v1/schedules/nightly')).body['cron']).toBe(NIGHTLY.cron);
  });

  test('a token for certain queues sees and touches their schedules alone', async () => {
    await put('nightly', NIGHTLY);
    await put('mine', { ...NIGHTLY, queue: 'mine' });
    const queues = ['mine'];
    expect(namesOf(await app.call('GET', '/v1/schedules', { queues }))).toEqual(['mine']);
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/pause'],
      ['POST', '/resume'],
    ] as const) {
      const { status } = await app.call(method, `/v1/schedules/nightly${path}`, { queues });
      expect(status).toBe(404);
    }
    expect((await put('new', NIGHTLY, { queues })).status).toBe(403);
    expect((await put('nightly', { ...NIGHTLY, queue: 'mine' }, { queues })).status).toBe(403);
    expect((await put('mine', { ...NIGHTLY, queue: 'mine' }, { queues })).status).toBe(200);
    expect((await app.call('GET', '/v1/schedules/nightly')).body['queue']).toBe('reports');
  });
});

describe('case R22 a monitor can tell that ticks have stopped', () => {
  test('ready says when a tick last did all its work', async () => {
    expect((await app.call('GET', '/v1/ready')).body['last_tick_at']).toBeNull();
    await tick(app.deps());
    const { body } = await app.call('GET', '/v1/ready');
    expect(Math.abs(Date.parse(String(body['last_tick_at'])) - Date.now())).toBeLessThan(60_000);
  });
});

function namesOf({ body }: Answer): string[] {
  return (body['schedules'] as { name: string }[]).map(({ name }) => name);
}
