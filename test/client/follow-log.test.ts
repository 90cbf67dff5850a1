/** The client's live stream, over real HTTP: each event once, whatever happens to the stream. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createApp } from '../../functions/app.ts';
import { createClient } from '../../shared/client/client.ts';
import type { LeaseholdClient } from '../../shared/client/client.ts';
import type { Followed } from '../../shared/client/follow-log.ts';
import { createAppHarness, signToken } from '../routes/support/app-harness.ts';
import type { AppHarness } from '../routes/support/app-harness.ts';
import { settledLog } from '../support/settled-log.ts';

let app: AppHarness;
let client: LeaseholdClient;
/** Sockets of streams that are open, for cuts. */
const streams = new Set<{ destroy(): unknown }>();
const server = createServer((incoming, outgoing) => {
  void (async () => {
    const headers = new Headers(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    );
    const hasBody = incoming.method !== 'GET';
    const request = new Request(`http://127.0.0.1${incoming.url ?? '/'}`, {
      method: incoming.method ?? 'GET',
      headers,
      ...(hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}),
    } as RequestInit);
    const response = await createApp(app.deps()).fetch(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body === null) return outgoing.end();
    if (incoming.url?.includes('/stream') === true) streams.add(outgoing);
    const body = Readable.fromWeb(response.body as unknown as NodeStream);
    outgoing.on('close', () => body.destroy());
    return body.on('error', () => outgoing.destroy()).pipe(outgoing);
  })();
});

beforeAll(async () => {
  app = await createAppHarness();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  client = createClient({
    baseUrl: `http://127.0.0.1:${port}`,
    token: await signToken('enqueue read operate work'),
  });
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await app.close();
});

async function nextOf<Kind extends Followed['kind']>(
  stream: AsyncGenerator<Followed, void, void>,
  kind: Kind,
): Promise<Extract<Followed, { kind: Kind }>> {
  for (;;) {
    const { value, done } = await stream.next();
    if (done === true || value === undefined) throw new Error('The stream has ended.');
    if (value.kind === kind) return value as Extract<Followed, { kind: Kind }>;
  }
}

const JOB = { queue: 'followed', type: 't', payload: 1 };

describe('client.log', () => {
  test('S2.7 a stream that is cut is taken up where it was: each event once', async () => {
    const over = new AbortController();
    const stream = client.log.follow({ signal: over.signal });
    await nextOf(stream, 'connected');
    const first = await client.enqueue(JOB);
    const change = await nextOf(stream, 'change');
    expect(change.events).toMatchObject([{ type: 'created', job_id: first.id, queue: 'followed' }]);
    expect(change.jobs).toMatchObject([{ id: first.id, state: 'pending' }]);
    for (const socket of streams) socket.destroy();
    const missed = await client.enqueue(JOB);
    await nextOf(stream, 'cut');
    await nextOf(stream, 'connected');
    const after = await nextOf(stream, 'change');
    expect(after.events.map((event) => event.job_id)).toEqual([missed.id]);
    const overview = await nextOf(stream, 'overview');
    expect(overview.overview.queues).toMatchObject([{ name: 'followed', due: { count: 2 } }]);
    over.abort();
    expect(await stream.next()).toEqual({ value: undefined, done: true });
  });

  test('S2.6 history and log, page by page', async () => {
    const { id } = await client.enqueue({ ...JOB, queue: 'paged' });
    expect(await client.claim('paged', {})).toMatchObject({ outcome: 'claimed', job: { id } });
    const page = await client.log.history(id, { limit: 1 });
    expect(page?.events).toMatchObject([{ type: 'created', actor: 'route-tests' }]);
    const rest = await client.log.history(id, { after: page?.next_after ?? '' });
    expect(rest).toMatchObject({
      events: [{ type: 'claimed', fencing_token: '1' }],
      next_after: null,
    });
    expect(await client.log.history('0193a1b2-c3d4-7e5f-8a6b-0123456789ab')).toBeUndefined();
    await settledLog(app.deps().sql);
    const log = await client.log.read({ queue: 'paged' });
    expect(log.events.map(({ type }) => type)).toEqual(['created', 'claimed']);
    const newest = await client.log.read({ queue: 'paged', order: 'newest', limit: 1 });
    expect(newest.events).toEqual(log.events.slice(1));
    const none = await client.log.read({ queue: 'paged', cursor: log.next_cursor ?? '' });
    expect(none).toEqual({ events: [], next_cursor: log.next_cursor, more: false });
  });

  test('a token that may not read is refused at once', async () => {
    const weak = createClient({
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      token: await signToken('enqueue'),
    });
    await expect(weak.log.follow().next()).rejects.toMatchObject({ code: 'forbidden' });
  });
});
