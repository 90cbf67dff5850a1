import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { JWK } from 'jose';

type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>;

/** A sign-in provider of the test's own: public keys at a URL, tokens signed with the private ones. */
export interface KeyProvider {
  readonly url: string;
  /** How often the keys were asked for. */
  readonly requests: number;
  /** What it answers from now on; default: the keys. */
  answer(status: number, body: string): void;
  answerKeys(): void;
  /** The next request is not answered; resolves when it has come. */
  holdNext(): Promise<void>;
  /** Adds a key; tokens are signed with the newest. */
  addKey(algorithm: string): Promise<void>;
  removeKeys(): void;
  /** @param seconds that the token is good for */
  sign(claims: Readonly<Record<string, unknown>>, seconds?: number): Promise<string>;
  publicKey(): Promise<JWK>;
  close(): Promise<void>;
}

export async function startKeyProvider(): Promise<KeyProvider> {
  let keys: { id: string; algorithm: string; pair: KeyPair }[] = [];
  let made = 0;
  let requests = 0;
  let fixed: { status: number; body: string } | undefined;
  const published = async (): Promise<string> =>
    JSON.stringify({
      keys: await Promise.all(
        keys.map(async ({ id, algorithm, pair }) => ({
          ...(await exportJWK(pair.publicKey)),
          kid: id,
          alg: algorithm,
          use: 'sig',
        })),
      ),
    });
  let held: (() => void) | undefined;
  const server = createServer((_request, response) => {
    requests += 1;
    if (held !== undefined) {
      held();
      held = undefined;
      return;
    }
    const { status, body } = fixed ?? { status: 200, body: undefined };
    response.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' });
    if (body === undefined) void published().then((text) => response.end(text));
    else response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('no TCP address');
  const newest = (): (typeof keys)[number] => {
    const key = keys.at(-1);
    if (key === undefined) throw new Error('the provider has no key');
    return key;
  };
  return {
    url: `http://127.0.0.1:${address.port}/keys`,
    get requests() {
      return requests;
    },
    answer: (status, body) => {
      fixed = { status, body };
    },
    answerKeys: () => {
      fixed = undefined;
    },
    holdNext: () =>
      new Promise((resolve) => {
        held = resolve;
      }),
    addKey: async (algorithm) => {
      made += 1;
      const pair = await generateKeyPair(algorithm, { extractable: true });
      keys = [...keys, { id: `key-${made}`, algorithm, pair }];
    },
    removeKeys: () => {
      keys = [];
    },
    sign: async (claims, seconds = 300) => {
      const { id, algorithm, pair } = newest();
      return await new SignJWT({ sub: 'somebody', scope: 'read', ...claims })
        .setProtectedHeader({ alg: algorithm, kid: id })
        .setExpirationTime(`${seconds} seconds`)
        .sign(pair.privateKey);
    },
    publicKey: async () => await exportJWK(newest().pair.publicKey),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
