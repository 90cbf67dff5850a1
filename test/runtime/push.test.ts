/** Signed pushes from the real runtime: what goes over the wire is up to its `fetch`, not to Node's. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { startReceiver, type Receiver } from '../push/support/receiver.ts';
import { PUSH_KEY } from '../push/support/scripted-push.ts';
import { createDeployment, type DeployedWorker, type Deployment } from '../support/deployment.ts';

let receiver: Receiver;
let deployment: Deployment;
let worker: DeployedWorker;

beforeAll(async () => {
  receiver = await startReceiver([PUSH_KEY]);
  deployment = await createDeployment();
  worker = await deployment.start({
    INSERT_POKES: 'off',
    PUSH_SECRETS: PUSH_KEY,
    PUSH_ALLOW_HTTP: 'on',
    PUSH_ALLOWED_HOSTS: `127.0.0.1:${receiver.port}`,
  });
});
afterAll(async () => {
  await deployment.close();
  await receiver.close();
});
beforeEach(async () => {
  receiver.received.length = 0;
  await receiver.answer({ status: 200 });
});

async function configure(queue: string, path: string, leaseSeconds = 30): Promise<void> {
  await configureQueue(deployment.database.sql, {
    queue,
    actor: 'tests',
    settings: { delivery: 'push', target_url: receiver.url(path), lease_seconds: leaseSeconds },
  });
}

test('case J5 the bytes that workerd sends are the bytes that were signed', async () => {
  await configure('bytes', '/in');
  const payload = { z: '😀 naïve "quoted" \u2028', '10': [1, 2.5, null], a: { b: true } };
  const id = await worker.enqueue({ queue: 'bytes', type: 'order.paid', payload });
  expect(await worker.poke('bytes')).toMatchObject({ outcome: 'succeeded' });
  const [received] = receiver.received;
  expect(received?.verdicts).toEqual(['verified']);
  expect(received?.headers).toMatchObject({
    'webhook-id': id,
    'idempotency-key': id,
    'leasehold-fencing-token': '1',
  });
  expect(JSON.parse(Buffer.from(received?.body ?? '', 'base64').toString())).toEqual(payload);
});

test('case J1 workerd does not follow a redirect either', async () => {
  await configure('redirected', '/in');
  await worker.enqueue({ queue: 'redirected', type: 'order.paid', payload: {} });
  await receiver.answer({ status: 307, headers: { location: receiver.url('/secret') } });
  expect(await worker.poke('redirected')).toMatchObject({
    outcome: 'retrying',
    code: 'http_redirect',
  });
  expect(receiver.received.map(({ path }) => path)).toEqual(['/in']);
});

test('case J7 a receiver that hangs is given up, and the Worker lives on', async () => {
  await configure('hangs', '/hang', 2);
  await worker.enqueue({ queue: 'hangs', type: 'order.paid', payload: {} });
  expect(await worker.poke('hangs')).toMatchObject({ outcome: 'retrying', code: 'push_timeout' });
  await configure('bytes', '/in');
  await worker.enqueue({ queue: 'bytes', type: 'order.paid', payload: {} });
  expect(await worker.poke('bytes')).toMatchObject({ outcome: 'succeeded' });
});
