import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { QueueDocument } from '../../shared/queue/queue-settings.ts';
import type { BlockedKeysResponse } from '../../shared/schemas/queue-response.ts';
import type { ScheduleResponse } from '../../shared/schemas/schedule-response.ts';
import { createCliHarness } from './support/cli-harness.ts';
import type { CliHarness } from './support/cli-harness.ts';

let cli: CliHarness;
beforeAll(async () => {
  cli = await createCliHarness();
});
afterAll(() => cli.close());

describe('queues', () => {
  test('are made, changed and shown', async () => {
    const made = await cli.json<QueueDocument>([
      'queues',
      'set',
      'emails',
      'max_attempts=8',
      'concurrency_limit=20',
      'on_dead=continue',
    ]);
    expect(made).toMatchObject({ max_attempts: 8, concurrency_limit: 20, on_dead: 'continue' });
    const cleared = ['queues', 'set', 'emails', 'concurrency_limit=null'];
    expect((await cli.json<QueueDocument>(cleared)).concurrency_limit).toBeNull();
    expect((await cli.run(['queues', 'get', 'emails'])).out).toMatch(/\nmax_attempts +8\n/);
    const { out } = await cli.run(['queues']);
    expect(out).toMatch(/^QUEUE +STATE .*\nemails +running +handler +8 /);
    expect(await cli.run(['queues', 'get', 'nowhere'])).toMatchObject({ code: 3 });
  });

  test('a wrong setting is named', async () => {
    expect(await cli.run(['queues', 'set', 'emails', 'max_attempts'])).toMatchObject({ code: 2 });
    const ran = await cli.run(['queues', 'set', 'emails', 'max_attempts=0', 'colour=red']);
    expect(ran.code).toBe(1);
    expect(ran.err).toContain('max_attempts: must be an integer from 1 to 100');
    expect(ran.err).toContain('colour: is not a known field');
  });

  test('are paused and resumed, and say whether that was new', async () => {
    await cli.client.queues.put('paused', {});
    const pause = ['pause', 'paused', '--reason', 'the bank is down'];
    expect((await cli.run(pause)).out).toBe('paused is paused.\n');
    expect((await cli.run(pause)).out).toBe('paused was paused already.\n');
    expect((await cli.run(['queues'])).out).toMatch(/paused +paused .*by cli-tests +the bank is/);
    expect((await cli.run(['resume', 'paused'])).out).toBe('paused is running.\n');
    expect((await cli.client.queues.get('paused'))?.paused).toBeNull();
  });

  test('tell which ordering keys wait, and for what', async () => {
    const job = { queue: 'keyed', type: 'try', payload: 1, ordering_key: 'customer 1' };
    const { id } = await cli.client.enqueue(job);
    await cli.client.enqueue(job);
    const { keys } = await cli.json<BlockedKeysResponse>(['queues', 'keys', 'keyed']);
    expect(keys).toMatchObject([{ ordering_key: 'customer 1', waiting: 1, blocked_by: id }]);
    expect((await cli.run(['queues', 'keys', 'keyed'])).out).toMatch(/customer 1 +1 +/);
  });
});

describe('status', () => {
  test('tells how the queues fare, by age', async () => {
    await cli.client.enqueue({ queue: 'fares', type: 'try', payload: 1 });
    await cli.client.enqueue({ queue: 'fares', type: 'try', payload: 1, delay_seconds: 60 });
    const claimed = await cli.client.claim('fares');
    if (claimed.outcome === 'empty') throw new Error('nothing to claim');
    const error = { code: 'x', message: 'No.' };
    await cli.client.fail(claimed.job, { error, class: 'permanent' });
    await cli.client.enqueue({ queue: 'fares', type: 'try', payload: 1 });
    const hourOn = { now: () => Date.now() + 3_600_000, colours: true };
    const { code, out } = await cli.run(['status'], hourOn);
    expect(code).toBe(0);
    expect(out).toMatch(/^QUEUE +STATE +OLDEST DUE +DUE /);
    const line = out.split('\n').find((one) => one.startsWith('fares'));
    expect(line).toContain('\u001b[31m1 h');
    const plain = await cli.run(['status']);
    expect(plain.out).toMatch(/\nfares +running +\d+ m?s +1 +0 +1 +0 +1 +0 +0 \/ 1\n/);
    expect(await cli.json(['status'])).toMatchObject({ left_out: 0 });
  });
});

describe('schedules', () => {
  const put = '--cron|0 3 * * *|--zone|Europe/Berlin|--queue|reports|--type|report.csv'.split('|');

  test('are made, shown, paused, resumed and deleted', async () => {
    const made = await cli.json<ScheduleResponse>([
      'schedules',
      'put',
      'nightly',
      ...put,
      '--payload',
      '{"days":1}',
      ...'--missed all --missed-limit 3'.split(' '),
    ]);
    expect(made).toMatchObject({ payload: { days: 1 }, missed: 'all', missed_limit: 3 });
    expect(made.next_slots.length).toBeGreaterThan(0);
    expect((await cli.run(['schedules'])).out).toMatch(/\nnightly +0 3 \* \* \* +Europe\/Berlin /);
    expect((await cli.run(['schedules', 'get', 'nightly'])).out).toContain(made.next_slots[0]);
    expect((await cli.run(['schedules', 'pause', 'nightly'])).out).toMatch(/\npaused +true\n/);
    expect((await cli.run(['schedules'])).out).toMatch(/\nnightly .* paused /);
    expect((await cli.run(['schedules', 'resume', 'nightly'])).out).toMatch(/\npaused +false\n/);
    expect((await cli.run(['schedules', 'delete', 'nightly'])).code).toBe(0);
    for (const verb of ['get', 'pause', 'resume']) {
      expect(await cli.run(['schedules', verb, 'nightly'])).toMatchObject({ code: 3, out: '' });
    }
  });

  test('need cron and zone, and are refused with the reason', async () => {
    expect(await cli.run(['schedules', 'put', 'x', '--cron', '0 3 * * *'])).toMatchObject({
      code: 2,
    });
    const ran = await cli.run(['schedules', 'put', 'x', ...put, '--cron', '61 * * * *']);
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(/\n {2}cron: /);
  });
});
