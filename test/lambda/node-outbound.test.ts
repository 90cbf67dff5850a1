/** Requests to receivers of pushes from Node: to the address that was checked, and to no other. */
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { nodeOutbound } from '../../functions/lambda/node-outbound.ts';

interface Received {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let server: Server;
let port: number;
let connections = 0;
const received: Received[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method, url: path, headers } = request;
      received.push({ method, path, headers, body });
      if (path === '/hang') return;
      if (path === '/moved') response.writeHead(307, { location: '/in' });
      else if (path === '/empty') response.writeHead(204);
      else
        response.writeHead(
          202,
          [
            ['leasehold-async', '1'],
            ['set-cookie', 'a=1'],
            ['set-cookie', 'b=2'],
          ].flat(),
        );
      response.end(path === '/empty' ? undefined : 'täken');
    });
  });
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('no TCP address');
  ({ port } = address);
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});
beforeEach(() => {
  received.length = 0;
  connections = 0;
});

function post(path: string, init: RequestInit = {}): Request {
  // No resolver knows this name: only a given address can lead there.
  return new Request(`http://hooks.example.invalid:${port}${path}`, {
    method: 'POST',
    body: '{"a":"ü"}',
    headers: { 'content-type': 'application/json' },
    redirect: 'manual',
    ...init,
  });
}
const HERE = { addresses: ['127.0.0.1'] };

describe('case J1 the address of a push', () => {
  test('is the one that is given, under the name of the URL', async () => {
    const response = await nodeOutbound.fetch(post('/in?x=1'), HERE);
    expect([response.status, await response.text()]).toEqual([202, 'täken']);
    expect(response.headers.get('leasehold-async')).toBe('1');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(received).toMatchObject([
      {
        method: 'POST',
        path: '/in?x=1',
        headers: {
          host: `hooks.example.invalid:${port}`,
          'content-type': 'application/json',
          'content-length': '10',
        },
        body: '{"a":"ü"}',
      },
    ]);
  });

  test('is looked up when none is given, as for a host that the deployment lists', async () => {
    const request = new Request(`http://127.0.0.1:${port}/in`, { method: 'POST', body: 'x' });
    expect((await nodeOutbound.fetch(request)).status).toBe(202);
    await expect(nodeOutbound.fetch(post('/in'))).rejects.toMatchObject({
      cause: { code: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/) as unknown },
    });
  });

  test('may be any of several: the next is tried when one does not answer', async () => {
    const addresses = ['::1', '127.0.0.1'];
    expect((await nodeOutbound.fetch(post('/in'), { addresses })).status).toBe(202);
  });

  test('is not that of an earlier connection: none is kept', async () => {
    await (await nodeOutbound.fetch(post('/in'), HERE)).text();
    await (await nodeOutbound.fetch(post('/in'), HERE)).text();
    expect(connections).toBe(2);
    await expect(nodeOutbound.fetch(post('/in'), { addresses: ['127.0.0.9'] })).rejects.toThrow(
      'The request failed.',
    );
  });

  test('is never that of a redirect', async () => {
    const response = await nodeOutbound.fetch(post('/moved'), HERE);
    expect([response.status, response.headers.get('location')]).toEqual([307, '/in']);
    expect(received).toHaveLength(1);
  });

  test('none at all is an error', async () => {
    await expect(nodeOutbound.fetch(post('/in'), { addresses: [] })).rejects.toMatchObject({
      cause: { code: 'ENOTFOUND' },
    });
  });
});

describe('answers of a receiver', () => {
  test('without a body', async () => {
    const response = await nodeOutbound.fetch(post('/empty'), HERE);
    expect([response.status, await response.text()]).toEqual([204, '']);
  });

  test('that do not come are given up with the signal', async () => {
    const signal = AbortSignal.timeout(100);
    await expect(nodeOutbound.fetch(post('/hang', { signal }), HERE)).rejects.toMatchObject({
      cause: { code: 'ABORT_ERR' },
    });
  });
});

describe('a look-up', () => {
  test.each([
    ['[::1]', '::1'],
    ['127.0.0.1', '127.0.0.1'],
    ['localhost', '127.0.0.1'],
  ])('of %s', async (host, address) => {
    expect(await nodeOutbound.lookup?.(host)).toContain(address);
  });

  test('of a name that is not there fails', async () => {
    await expect(nodeOutbound.lookup?.('hooks.example.invalid')).rejects.toThrow('hooks');
  });
});
