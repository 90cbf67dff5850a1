import type { Config } from '../../shared/config.ts';
import { HttpFault } from '../http-fault.ts';
import type { RouteContext } from '../routes/route.ts';

const HEADER = 'x-csrf-token';
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

type CsrfDeps = { readonly config: Pick<Config, 'pokeSecrets'> };

/**
 * What pages of this deployment send to show that they could read the cookie of the same value. It follows from the
 * credential under a key of the deployment, so that a cookie which somebody else has set is worth nothing.
 *
 * @param binding what the browser sends by itself: the token of a session, or who a proxy says it is
 */
export async function csrfToken({ config }: CsrfDeps, binding: string): Promise<string> {
  const [key] = config.pokeSecrets;
  if (key === undefined) throw new TypeError('A configuration without a key was let through.');
  const signed = await crypto.subtle.sign('HMAC', await macKey(key.reveal()), textOf(binding));
  return Array.from(new Uint8Array(signed), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * For a call whose credential the browser adds by itself, whoever makes it: lets through what changes nothing, and what a
 * page of this origin sends.
 *
 * @throws {LeaseholdError} `csrf_refused`
 */
export async function requireOwnPage(
  context: RouteContext,
  deps: CsrfDeps,
  binding: string,
): Promise<void> {
  if (SAFE_METHODS.has(context.req.method)) return;
  requireSameOrigin(context);
  const given = bytesOf(context.req.header(HEADER) ?? '');
  const verified = await Promise.all(
    deps.config.pokeSecrets.map(async (key) =>
      crypto.subtle.verify('HMAC', await macKey(key.reveal()), given, textOf(binding)),
    ),
  );
  if (verified.includes(true)) return;
  throw refused(`The header ${HEADER} is not the value of the cookie of this session.`);
}

/**
 * Browsers say where a call comes from; old ones at least which origin. One that says neither is refused.
 *
 * @throws {LeaseholdError} `csrf_refused`
 */
export function requireSameOrigin(context: RouteContext): void {
  const site = context.req.header('sec-fetch-site');
  const origin = context.req.header('origin');
  const same =
    site === undefined ? origin === new URL(context.req.url).origin : site === 'same-origin';
  if (!same) throw refused('The call does not come from a page of this origin.');
}

function refused(message: string): HttpFault {
  return new HttpFault('csrf_refused', message, {});
}

function macKey(secret: string): ReturnType<typeof crypto.subtle.importKey> {
  const bytes = new TextEncoder().encode(secret);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign', 'verify']);
}

/** The first line keeps it apart from whatever else the key signs. */
function textOf(binding: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(new TextEncoder().encode(`leasehold board csrf\n${binding}`));
}

/** Of hexadecimal digits; nothing, which no signature is, for anything else. */
function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  if (!/^[0-9a-f]{64}$/.test(hex)) return new Uint8Array();
  const pairs = hex.match(/../g) ?? [];
  return new Uint8Array(pairs.map((pair) => Number.parseInt(pair, 16)));
}
