/** Leases over HTTP and sign-in by public keys, in the deployed bundle. */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startKeyProvider, type KeyProvider } from '../routes/support/key-provider.ts';
import { createDeployment, type DeployedWorker, type Deployment } from '../support/deployment.ts';

const REQUESTS = 50;

let deployment: Deployment;
let provider: KeyProvider;
let worker: DeployedWorker;

beforeAll(async () => {
  deployment = await createDeployment();
  provider = await startKeyProvider();
  await provider.addKey('ES256');
  worker = await deployment.start({ JWKS_URL: provider.url });
});

afterAll(async () => {
  await deployment.close();
  await provider.close();
});

test('case K1 keys of the sign-in provider: the first request is cancelled while it waits for them', async () => {
  const token = await provider.sign({ scope: 'read' });
  const read = async (signal?: AbortSignal): Promise<number> => {
    const response = await fetch(`${worker.url}/v1/jobs/${uuidv7()}`, {
      headers: { authorization: `Bearer ${token}` },
      ...(signal === undefined ? {} : { signal }),
    });
    await response.body?.cancel();
    return response.status;
  };
  const client = new AbortController();
  const held = provider.holdNext();
  const cancelled = read(client.signal);
  await held;
  client.abort();
  await expect(cancelled).rejects.toThrow('aborted');

  const oneByOne: number[] = [];
  for (let sent = 1; sent < REQUESTS / 2; sent += 1) oneByOne.push(await read());
  const together = await Promise.all(Array.from({ length: REQUESTS / 2 }, () => read()));
  expect([...oneByOne, ...together]).toEqual(Array.from({ length: REQUESTS - 1 }, () => 404));
  // One for the request that went away, one for all the others.
  expect(provider.requests).toBe(2);
});

test('B.7 a job is added once, waited for, leased and completed', async () => {
  const post = async (
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Readonly<Record<string, unknown>>> => {
    const token = await provider.sign({ sub: 'agent-7', scope: 'enqueue work read' });
    const response = await fetch(`${worker.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    return { ...answer, status: response.status };
  };
  const waiting = post('/v1/claims', { queues: ['for-agents', 'others'], wait: 20 });
  const job = { queue: 'for-agents', type: 'write', payload: { about: 'otters' } };
  const key = { 'idempotency-key': '"once"' };
  const added = await post('/v1/jobs', job, key);
  expect(await post('/v1/jobs', job, key)).toEqual(added);

  const { jobs } = (await waiting) as { jobs?: { id: string; fencing_token: string }[] };
  expect(jobs).toMatchObject([{ id: added['id'], attempt: 1, payload: { about: 'otters' } }]);
  const { id = '', fencing_token: token = '' } = jobs?.[0] ?? {};
  const waited = worker.request(`/v1/jobs/${id}?wait=20`);
  expect(await post(`/v1/leases/${id}/heartbeat`, { fencing_token: token, step: 1 })).toMatchObject(
    { status: 200, outcome: 'held' },
  );
  expect(
    await post(`/v1/leases/${id}/complete`, { fencing_token: token, result: 'done' }),
  ).toMatchObject({ status: 200, outcome: 'succeeded' });
  expect(await (await waited).json()).toMatchObject({
    state: 'succeeded',
    result: 'done',
    finished_by: 'agent-7',
  });
  expect(await post(`/v1/leases/${id}/complete`, { fencing_token: '9' })).toMatchObject({
    status: 409,
    code: 'lease_lost',
  });
});
