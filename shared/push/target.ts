import { isIpv4, isPublicAddress } from './public-address.ts';

/** What a deployment allows as the target of a push. */
export interface PushTargetPolicy {
  /** Whether plain http:// is allowed: for use inside one machine. */
  readonly allowHttp: boolean;
  /**
   * When given, only these: `host` or `host:port`, lower case. A host that is listed may be private, as whoever runs the
   * deployment has named it.
   */
  readonly allowedHosts?: readonly string[];
}

export type PushTargetCheck =
  /** `listed`: the deployment names the host, so its addresses need no check. */
  | { readonly ok: true; readonly url: URL; readonly listed: boolean }
  /** `problem` follows the words "target_url" and never repeats the URL, which may hold a secret. */
  | { readonly ok: false; readonly problem: string };

const MAX_URL_CHARS = 2000;

/** Names that only mean something inside a network. */
const INNER_NAMES = ['localhost', 'local', 'internal', 'localdomain', 'home.arpa'];

/**
 * Decides whether jobs may be pushed to a URL: the guard against requests into private networks. The same check stands
 * where a queue is configured and before every send, so a URL that was good when it was stored is judged anew.
 *
 * The URL parser has already turned decimal, octal, hexadecimal and full-width spellings of an address into the plain
 * one, so what is checked is what the request would connect to. A name that resolves to a private address is the
 * sender's part: see `targetAddressesProblem`.
 *
 * @example checkPushTarget('https://0x7f.1/', { allowHttp: false }).ok // false
 */
export function checkPushTarget(text: string, policy: PushTargetPolicy): PushTargetCheck {
  if (text.length > MAX_URL_CHARS || !URL.canParse(text)) {
    return refuse(`must be a URL of at most ${MAX_URL_CHARS} characters`);
  }
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && policy.allowHttp)) {
    return refuse(policy.allowHttp ? 'must be an http:// or https:// URL' : 'must be https');
  }
  if (url.username !== '' || url.password !== '') return refuse('must not hold a user or password');
  if (url.hash !== '') return refuse('must not hold a fragment');
  const host = url.hostname.replace(/\.+$/, '');
  if (policy.allowedHosts !== undefined) {
    const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
    const listed =
      policy.allowedHosts.includes(host) || policy.allowedHosts.includes(`${host}:${port}`);
    return listed
      ? { ok: true, url, listed }
      : refuse('must have a host that PUSH_ALLOWED_HOSTS lists');
  }
  if (host.startsWith('[') || isIpv4(host)) {
    return isPublicAddress(host.replace(/^\[|\]$/g, ''))
      ? { ok: true, url, listed: false }
      : refuse('must not be a private or reserved address');
  }
  return isInnerName(host)
    ? refuse('must have a public host name')
    : { ok: true, url, listed: false };
}

/**
 * The second half of the guard, where the runtime can look names up: what a host name resolves to.
 *
 * @param addresses all that the resolver gave
 * @returns what is wrong with them, or undefined
 */
export function targetAddressesProblem(addresses: readonly string[]): string | undefined {
  return addresses.every(isPublicAddress) ? undefined : 'resolves to a private or reserved address';
}

/** A name without a dot is completed by the network it is asked in, so it is an inner name too. */
function isInnerName(host: string): boolean {
  return (
    !host.includes('.') || INNER_NAMES.some((name) => host === name || host.endsWith(`.${name}`))
  );
}

function refuse(problem: string): PushTargetCheck {
  return { ok: false, problem };
}
