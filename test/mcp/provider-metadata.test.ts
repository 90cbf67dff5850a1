import { afterAll, beforeAll, expect, test } from 'vitest';

import { createApp } from '../../functions/app.ts';
import { parseConfig } from '../../shared/config.ts';
import { SCOPES } from '../../shared/scopes.ts';
import { AUTH_SECRET, createAppHarness } from '../routes/support/app-harness.ts';
import type { AppHarness } from '../routes/support/app-harness.ts';

const PATH = '/.well-known/oauth-protected-resource/mcp';
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());

/** The app with a sign-in provider, whose keys nobody asks for here. */
async function ask(method: string, path: string, provider: object): Promise<Response> {
  const config = parseConfig({
    DATABASE_URL: app.http.connectionString,
    AUTH_SECRET,
    POKE_SECRETS: `whsec_${btoa('the poke key of the route tests.')}`,
    ...provider,
  });
  const body = method === 'POST' ? { body: LIST } : {};
  const request = await app.request(method, path, { scope: null, ...body });
  return await createApp(app.deps({ config })).fetch(request);
}

const PROVIDER = {
  JWKS_URL: 'https://sign-in.example.com/keys',
  AUTH_ISSUER: 'https://sign-in.example.com/',
};

test('B.5 S2.8 a client without a token is told which provider gives one', async () => {
  const refused = await ask('POST', '/mcp', PROVIDER);
  expect(refused.status).toBe(401);
  const challenge = refused.headers.get('www-authenticate') ?? '';
  const [, metadata = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
  expect(metadata).toBe(`https://leasehold.test${PATH}`);
  const document = await ask('GET', new URL(metadata).pathname, PROVIDER);
  expect(await document.json()).toEqual({
    resource: 'https://leasehold.test/mcp',
    resource_name: 'Leasehold',
    authorization_servers: ['https://sign-in.example.com/'],
    scopes_supported: [...SCOPES],
    bearer_methods_supported: ['header'],
  });
});

test.each([
  ['no provider', {}],
  ['an issuer that is no address', { ...PROVIDER, AUTH_ISSUER: 'sign-in' }],
])('B.5 with %s there is nothing to tell', async (_name, provider) => {
  expect((await ask('GET', PATH, provider)).status).toBe(404);
  const refused = await ask('POST', '/mcp', provider);
  expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="leasehold"');
});

test('other routes do not name it', async () => {
  const refused = await ask('GET', '/v1/queues', PROVIDER);
  expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="leasehold"');
});
