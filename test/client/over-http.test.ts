/** The client as it ships, with the runtime's own fetch, over real sockets. */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createApp } from '../../functions/app.ts';
import { createClient } from '../../shared/client/client.ts';
import type { LeaseholdClient } from '../../shared/client/client.ts';
import { work } from '../../shared/client/work.ts';
import { SCOPES } from '../../shared/scopes.ts';
import { createAppHarness, signToken } from '../routes/support/app-harness.ts';
import type { AppHarness } from '../routes/support/app-harness.ts';

let app: AppHarness;
let server: Server;
let client: LeaseholdClient;
/** Answers of these paths are cut off, as often as they stand here. */
const cut: string[] = [];
/** Every request, in order. */
const seenUrls: string[] = [];

beforeAll(async () => {
  app = await createAppHarness();
  server = createServer((incoming, outgoing) => void serve(incoming, outgoing));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  client = clientAt('');
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await app.close();
});

function clientAt(path: string): LeaseholdClient {
  const { port } = server.address() as AddressInfo;
  return createClient({
    baseUrl: `http://127.0.0.1:${port}${path}`,
    token: async () => await signToken(SCOPES.join(' ')),
  });
}

async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { method = 'GET', url = '/' } = incoming;
  const body = await buffer(incoming);
  seenUrls.push(url);
  if (url.startsWith('/moved')) {
    outgoing.writeHead(307, { location: '/elsewhere' }).end();
    return;
  }
  const request = new Request(new URL(url, 'http://leasehold.test'), {
    method,
    headers: incoming.headers as Record<string, string>,
    ...(body.length === 0 ? {} : { body: Uint8Array.from(body) }),
  });
  const response = await createApp(app.deps()).fetch(request);
  const at = cut.findIndex((end) => url.endsWith(end));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (at === -1) {
    outgoing.end(bytes);
    return;
  }
  cut.splice(at, 1);
  // Headers and half the body leave; then the line is dead.
  outgoing.write(bytes.subarray(0, bytes.length / 2), () => outgoing.destroy());
}

test('a job goes through, although every answer is cut off once', async () => {
  cut.push('/v1/jobs', '/claims', '/complete');
  const { id, outcome } = await client.enqueue({ queue: 'http', type: 'try', payload: 'é 🎈' });
  expect(outcome).toBe('created');
  const stop = new AbortController();
  const seen: unknown[] = [];
  const handler = (job: { readonly payload: unknown }): string => {
    seen.push(job.payload);
    return 'done';
  };
  await work(client, 'http', handler, { signal: stop.signal, onEnd: () => stop.abort() });
  expect(cut).toEqual([]);
  expect(seen).toEqual(['é 🎈']);
  expect(await client.getJob(id)).toMatchObject({ state: 'succeeded', result: 'done', attempt: 1 });
});

test('a worker that waits for jobs stops when it is told to', async () => {
  const stop = new AbortController();
  const working = work(client, 'idle', () => 'never', { signal: stop.signal });
  await client.listJobs({ queue: 'idle' });
  stop.abort();
  await working;
  expect((await client.listJobs({ queue: 'idle' })).jobs).toEqual([]);
});

test('a redirect is not followed: it would carry payload and token elsewhere', async () => {
  const failed = clientAt('/moved').enqueue({ queue: 'http', type: 'try', payload: 1 });
  await expect(failed).rejects.toMatchObject({ code: 'unexpected_answer', status: 307 });
  expect(seenUrls).toContain('/moved/v1/jobs');
  expect(seenUrls.filter((url) => url.startsWith('/elsewhere'))).toEqual([]);
});
