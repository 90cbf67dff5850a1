/** The relay in the real runtime: an append over HTTP brings its event out, by a poke through the service binding. */
import { HTTP } from 'cloudevents';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PUSH_KEY } from '../push/support/scripted-push.ts';
import { startReceiver, type Receiver } from '../push/support/receiver.ts';
import { createDeployment, type DeployedWorker, type Deployment } from '../support/deployment.ts';

let deployment: Deployment;
let receiver: Receiver;
let worker: DeployedWorker;

beforeAll(async () => {
  receiver = await startReceiver([PUSH_KEY]);
  deployment = await createDeployment();
  worker = await deployment.start({
    OUTBOX_TARGET_URL: receiver.url('/events'),
    OUTBOX_SECRETS: PUSH_KEY,
    OUTBOX_FORMAT: 'binary',
    OUTBOX_SOURCE: '/shop',
    PUSH_ALLOW_HTTP: 'on',
  });
});
afterAll(async () => {
  await deployment.close();
  await receiver.close();
});

test('C.4 an append pokes the relay: the event is out without a tick', async () => {
  const response = await worker.request('/v1/outbox/events', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      aggregate_type: 'order',
      aggregate_id: '订单 1',
      type: 'order.placed',
      payload: { total: 10, note: '😀' },
    }),
  });
  expect(response.status).toBe(201);
  const { id } = (await response.json()) as { id: string };
  await expect.poll(() => receiver.received, { timeout: 10_000 }).toHaveLength(1);
  const [received] = receiver.received;
  expect(received?.verdicts).toEqual(['verified']);
  const event = HTTP.toEvent({
    headers: received?.headers as Record<string, string>,
    body: Buffer.from(received?.body ?? '', 'base64').toString(),
  });
  expect(event).toMatchObject({
    id,
    source: '/shop',
    type: 'order.placed',
    data: { total: 10, note: '😀' },
  });
  await expect
    .poll(async () => {
      const read = await worker.request(`/v1/outbox/events/${id}`);
      return ((await read.json()) as { state: string }).state;
    })
    .toBe('published');
});

test('a deployment without a target publishes nothing, and says so', async () => {
  const without = await deployment.start();
  const response = await without.request('/v1/work', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ queue: 'outbox', relay: true }),
  });
  expect(await response.json()).toEqual({ outcome: 'no_publisher', queue: 'outbox' });
});
