/** Timed wake-ups on AWS, at the wire: what the SDK sends is checked against the model of the service. */
import { SchedulerClient } from '@aws-sdk/client-scheduler';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CLIENT_OPTIONS } from '../../functions/lambda/client-options.ts';
import { WAKE_LEAD_MS, wakeInstant } from '../../functions/wake/eventbridge-instant.ts';
import { createEventBridgeWakeClock } from '../../functions/wake/eventbridge-wake-clock.ts';
import { webIds } from '../../functions/web-ports.ts';
import type { WakeClock } from '../../shared/wake/wake-clock.ts';
import { startSchedulerService } from './support/scheduler-service.ts';
import type { SchedulerService } from './support/scheduler-service.ts';

const NOON = Date.parse('2026-12-01T12:00:00Z');
const TARGET = {
  group: 'leasehold',
  functionArn: 'arn:aws:lambda:eu-west-1:123456789012:function:leasehold-worker',
  roleArn: 'arn:aws:iam::123456789012:role/leasehold-SchedulerRole-1A2B',
  deadLetterArn: 'arn:aws:sqs:eu-west-1:123456789012:leasehold-DeadLetters-3C4D',
};

let now: number;
let service: SchedulerService;
let container: WakeClock;

beforeEach(async () => {
  now = NOON;
  service = await startSchedulerService({ groups: ['leasehold'], now: () => now });
  container = newContainer();
});

afterEach(() => service.close());

/** Each has a memory of its own. */
function newContainer(options: { readonly requestTimeout?: number } = {}): WakeClock {
  const client = new SchedulerClient({
    ...CLIENT_OPTIONS,
    requestHandler: { ...CLIENT_OPTIONS.requestHandler, ...options },
    endpoint: service.url,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
  });
  return createEventBridgeWakeClock({
    client,
    target: TARGET,
    input: '{"leasehold":"drain"}',
    clock: { now: () => now },
    ids: webIds,
  });
}

function instants(): string[] {
  return [...service.schedules.values()].map(({ at }) => new Date(at).toISOString()).toSorted();
}

describe('B.1 the instant of a wake-up', () => {
  test.each([
    ['on the grid', '12:01:00.000', 'at(2026-12-01T12:01:00)'],
    [
      'rounded up, never down: what is due is due when the drain comes',
      '12:01:00.001',
      'at(2026-12-01T12:01:10)',
    ],
    ['in the past: as soon as can be', '11:00:00.000', 'at(2026-12-01T12:00:10)'],
    ['now', '12:00:00.000', 'at(2026-12-01T12:00:10)'],
  ])('%s', (_case, at, expression) => {
    const instant = wakeInstant(Date.parse(`2026-12-01T${at}Z`), NOON);
    expect(instant.expression).toBe(expression);
    expect(instant.at - NOON).toBeGreaterThanOrEqual(WAKE_LEAD_MS);
  });

  test('its name tells the instant and nothing else', () => {
    const { name } = wakeInstant(NOON + 60_000, NOON);
    expect(name).toBe('wake-20261201T120100Z');
    expect(wakeInstant(NOON + 55_000, NOON - 5000).name).toBe(name);
  });
});

describe('C.3 what goes to EventBridge Scheduler', () => {
  test('is a whole one-off schedule that deletes itself', async () => {
    await container.wakeAt(NOON + 90_000);
    expect(service.faults).toEqual([]);
    expect(service.calls).toEqual(['CreateSchedule']);
    expect([...service.schedules.values()]).toEqual([
      {
        name: 'wake-20261201T120130Z',
        group: 'leasehold',
        at: NOON + 90_000,
        input: {
          GroupName: 'leasehold',
          ClientToken: expect.stringMatching(/^[\w-]{36}$/) as unknown,
          ScheduleExpression: 'at(2026-12-01T12:01:30)',
          ScheduleExpressionTimezone: 'UTC',
          FlexibleTimeWindow: { Mode: 'OFF' },
          ActionAfterCompletion: 'DELETE',
          Target: {
            Arn: TARGET.functionArn,
            RoleArn: TARGET.roleArn,
            Input: '{"leasehold":"drain"}',
            DeadLetterConfig: { Arn: TARGET.deadLetterArn },
            RetryPolicy: { MaximumEventAgeInSeconds: 3600, MaximumRetryAttempts: 8 },
          },
        },
      },
    ]);
  });

  test('a request that is not of the model is refused by the service of these tests', async () => {
    const bent = await fetch(`${service.url}/schedules/a%20b`, {
      method: 'POST',
      body: JSON.stringify({ ScheduleExpression: 'at(12:00)', Target: { Arn: 7 }, Colour: 'red' }),
    });
    expect(bent.status).toBe(400);
    expect(service.faults).toEqual([
      'FlexibleTimeWindow is missing',
      'Name is out of its bounds',
      'ScheduleExpression is out of its bounds',
      'Target.RoleArn is missing',
      'Target.Arn must be a text',
      'Colour is not a member',
    ]);
  });
});

describe('B.1 of several wake-ups the earliest counts', () => {
  test('a later one costs no request while an earlier one is to come', async () => {
    await container.wakeAt(NOON + 60_000);
    await container.wakeAt(NOON + 3_600_000);
    expect(service.calls).toHaveLength(1);
    await container.wakeAt(NOON + 30_000);
    expect(instants()).toEqual(['2026-12-01T12:00:30.000Z', '2026-12-01T12:01:00.000Z']);
  });

  test('the drain that an earlier one brings asks for the next', async () => {
    await container.wakeAt(NOON + 30_000);
    now = NOON + 31_000;
    expect(service.takeDue(now)).toHaveLength(1);
    await container.wakeAt(NOON + 3_600_000);
    expect(instants()).toEqual(['2026-12-01T13:00:00.000Z']);
  });

  test('S1.16 fifty containers that ask at once leave the earliest armed, whatever the order of their requests', async () => {
    const waits = Array.from({ length: 50 }, (_, index) => (((index * 37) % 50) + 1) * 60_000);
    await Promise.all(waits.map((wait) => newContainer().wakeAt(NOON + wait)));
    expect(instants()[0]).toBe('2026-12-01T12:01:00.000Z');
  });
});

describe('C.3 races and faults of EventBridge Scheduler', () => {
  test('a conflict means that somebody asked for the same instant: all is well', async () => {
    await newContainer().wakeAt(NOON + 60_000);
    await container.wakeAt(NOON + 60_000);
    expect(service.schedules.size).toBe(1);
    await container.wakeAt(NOON + 60_000);
    expect(service.calls).toHaveLength(2);
  });

  test('a lost answer is asked again with the same token, and is one schedule', async () => {
    service.next.push({ kind: 'lost_answer' });
    await container.wakeAt(NOON + 60_000);
    expect(service.calls).toEqual(['CreateSchedule', 'CreateSchedule']);
    expect(service.schedules.size).toBe(1);
  });

  test('throttles are waited out', async () => {
    const throttled = { kind: 'error', type: 'ThrottlingException', status: 429 } as const;
    service.next.push(throttled, throttled);
    await container.wakeAt(NOON + 60_000);
    expect(service.schedules.size).toBe(1);
  });

  test('an answer that does not come is given up in time, and asked for again', async () => {
    service.next.push({ kind: 'hang' });
    await newContainer({ requestTimeout: 100 }).wakeAt(NOON + 60_000);
    expect(service.schedules.size).toBe(1);
  });

  test.each([
    ['InternalServerException', 500],
    ['ThrottlingException', 429],
    ['ServiceQuotaExceededException', 402],
    ['AccessDeniedException', 403],
  ])('%s to the end is told, and the next call asks again', async (type, status) => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    service.next.push(
      ...Array.from({ length: 3 }, () => ({ kind: 'error', type, status }) as const),
    );
    await expect(container.wakeAt(NOON + 60_000)).rejects.toMatchObject({ name: type });
    service.next.length = 0;
    await container.wakeAt(NOON + 60_000);
    expect(service.schedules.size).toBe(1);
  });

  test('a group that is not there (404) is told', async () => {
    await service.close();
    service = await startSchedulerService({ groups: [], now: () => now });
    await expect(newContainer().wakeAt(NOON + 60_000)).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
  });
});
