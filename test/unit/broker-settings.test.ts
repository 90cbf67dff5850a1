import { describe, expect, test } from 'vitest';
import { configuredPublisher } from '../../functions/publish/configured-publisher.ts';
import { parseConfig, type Config } from '../../shared/config.ts';
import { LeaseholdError, type FieldProblem } from '../../shared/errors.ts';
import { publishedEvent } from '../broker/support/published-event.ts';
import { NODE_PORTS } from '../support/pg-sql.ts';

const KEY = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const BASE = {
  DATABASE_URL: 'postgres://u:p@127.0.0.1:5432/db',
  AUTH_SECRET: 'a'.repeat(32),
  POKE_SECRETS: KEY,
};
const NATS = 'wss://nats.example.com/';
const BUS = 'arn:aws:events:eu-central-1:123456789012:event-bus/orders';
const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:orders.fifo';

function config(variables: Readonly<Record<string, string>>): Config {
  return parseConfig({ ...BASE, ...variables });
}

function problems(run: () => unknown): readonly FieldProblem[] {
  try {
    run();
  } catch (error) {
    if (error instanceof LeaseholdError) return error.problems;
    throw error;
  }
  return [];
}

describe('the broker that a deployment publishes to', () => {
  test('none unless it is named', () => {
    expect(config({}).outbox.broker).toBeUndefined();
    expect(
      configuredPublisher(config({}), {
        ...NODE_PORTS,
        outbound: { fetch: (request: Request) => fetch(request) },
      }),
    ).toBeUndefined();
  });

  test('NATS, with its credentials hidden', () => {
    const { broker } = config({
      OUTBOX_NATS_URL: NATS,
      OUTBOX_NATS_TOKEN: 'hush',
      OUTBOX_SOURCE: '/shop',
    }).outbox;
    expect(broker).toMatchObject({ kind: 'nats', prefix: 'events', source: '/shop' });
    expect(JSON.stringify(broker)).not.toContain('hush');
  });

  test('EventBridge and SNS, where the platform has them', () => {
    const ports = { ...NODE_PORTS, outbound: { fetch: (request: Request) => fetch(request) } };
    const bus = config({ OUTBOX_EVENTBRIDGE_BUS: BUS });
    expect(bus.outbox.broker).toEqual({ kind: 'eventbridge', bus: BUS, source: '/leasehold' });
    expect(problems(() => configuredPublisher(bus, ports))).toEqual([
      { path: 'OUTBOX_EVENTBRIDGE_BUS', message: 'is for AWS Lambda alone' },
    ]);
    const topic = config({ OUTBOX_SNS_TOPIC_ARN: TOPIC });
    const publisher = { publish: () => Promise.resolve({ outcome: 'published' as const }) };
    expect(configuredPublisher(topic, { ...ports, awsPublisher: () => publisher })).toBe(publisher);
  });

  test('S4.10 none where a reader of the log publishes: the relay marks alone', async () => {
    const captured = config({ OUTBOX_CDC: 'on' });
    const publisher = configuredPublisher(captured, {
      ...NODE_PORTS,
      outbound: { fetch: (request: Request) => fetch(request) },
    });
    const { signal } = new AbortController();
    expect(await publisher?.publish(publishedEvent(), { signal })).toEqual({
      outcome: 'published',
    });
  });

  test.each<[Record<string, string>, string]>([
    [{ OUTBOX_CDC: 'yes' }, 'OUTBOX_CDC'],
    [{ OUTBOX_CDC: 'on', OUTBOX_NATS_URL: NATS }, 'OUTBOX_CDC'],
    [{ OUTBOX_NATS_URL: 'nats://nats.example.com' }, 'OUTBOX_NATS_URL'],
    [{ OUTBOX_NATS_URL: 'ws://nats.example.com' }, 'OUTBOX_NATS_URL'],
    [{ OUTBOX_NATS_URL: 'wss://user:hush@nats.example.com' }, 'OUTBOX_NATS_URL'],
    [{ OUTBOX_NATS_URL: NATS, OUTBOX_NATS_PREFIX: 'a..b' }, 'OUTBOX_NATS_PREFIX'],
    [{ OUTBOX_NATS_URL: NATS, OUTBOX_NATS_PREFIX: 'a.>' }, 'OUTBOX_NATS_PREFIX'],
    [{ OUTBOX_NATS_URL: NATS, OUTBOX_NATS_CREDS: 'hush' }, 'OUTBOX_NATS_CREDS'],
    [
      {
        OUTBOX_NATS_URL: NATS,
        OUTBOX_NATS_TOKEN: 'hush',
        OUTBOX_NATS_CREDS: '-----BEGIN NATS USER JWT-----',
      },
      'OUTBOX_NATS_CREDS',
    ],
    [{ OUTBOX_NATS_URL: NATS, OUTBOX_EVENTBRIDGE_BUS: BUS }, 'OUTBOX_EVENTBRIDGE_BUS'],
    [{ OUTBOX_EVENTBRIDGE_BUS: 'a bus' }, 'OUTBOX_EVENTBRIDGE_BUS'],
    [{ OUTBOX_SNS_TOPIC_ARN: 'orders' }, 'OUTBOX_SNS_TOPIC_ARN'],
    [
      {
        OUTBOX_TARGET_URL: 'https://consumer.example/',
        OUTBOX_SECRETS: KEY,
        OUTBOX_SNS_TOPIC_ARN: TOPIC,
      },
      'OUTBOX_SNS_TOPIC_ARN',
    ],
  ])('%j is refused by name, its value never repeated', (variables, path) => {
    const found = problems(() => config(variables));
    expect(found.map((problem) => problem.path)).toEqual([path]);
    expect(JSON.stringify(found)).not.toContain('hush');
  });
});
