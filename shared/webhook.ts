import { Webhook } from 'standardwebhooks';

import { POKE_TOLERANCE_SECONDS } from './limits.ts';

/**
 * Signed messages per Standard Webhooks 1.0: the receiver knows who sent the body, that nobody changed it, and
 * that it is not an old recording. The signature covers `id.timestamp.body`.
 *
 * `standardwebhooks` makes the signatures. Verification is done here because the package reads the system clock
 * itself and takes one key: this project gives time as a value and lets two keys live while one is replaced.
 */
export interface SignedHeaders {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
}

export type VerifyOutcome =
  | { readonly outcome: 'verified'; readonly id: string }
  | { readonly outcome: 'refused'; readonly reason: SignatureFault };

export type SignatureFault =
  'missing_headers' | 'malformed_headers' | 'too_old' | 'too_new' | 'no_match';

const PREFIX = 'whsec_';
const MIN_KEY_BYTES = 24;
const MAX_KEY_BYTES = 64;
const MAX_ID_CHARS = 128;
/** A sender that is replacing keys sends two; more than this is an attempt to make us work. */
const MAX_SIGNATURES = 8;

/**
 * @param key `whsec_…`, checked by `decodeWebhookKey`
 * @param message `id`: constant over repeats of one message, without dots; `nowMs`: since the Unix epoch
 * @example signWebhook('whsec_…', { id: 'msg_1', body: '{}', nowMs: clock.now() })['webhook-signature'] // 'v1,…'
 */
export function signWebhook(
  key: string,
  message: { readonly id: string; readonly body: string; readonly nowMs: number },
): SignedHeaders {
  const seconds = Math.floor(message.nowMs / 1000);
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': new Webhook(key).sign(message.id, new Date(seconds * 1000), message.body),
  };
}

/**
 * The same with a signature by each key, separated by spaces as the standard has it: a receiver that knows either key
 * accepts the message, so keys can be changed on the two sides one after the other.
 *
 * @param keys one or more, the newest first
 */
export function signWebhookWithAll(
  keys: readonly string[],
  message: { readonly id: string; readonly body: string; readonly nowMs: number },
): SignedHeaders {
  const signed = keys.map((key) => signWebhook(key, message));
  const [first] = signed;
  if (first === undefined) throw new RangeError('Give at least one signing key.');
  return {
    ...first,
    'webhook-signature': signed.map((one) => one['webhook-signature']).join(' '),
  };
}

/**
 * @param keys live keys; a signature by any of them is accepted
 * @param message `headers`: value of a header by lower-case name; `nowMs`: since the Unix epoch
 * @param toleranceSeconds how far the sender's clock and ours may differ, both ways
 */
export function verifyWebhook(
  keys: readonly string[],
  message: {
    readonly headers: (name: string) => string | undefined;
    readonly body: string;
    readonly nowMs: number;
  },
  toleranceSeconds = POKE_TOLERANCE_SECONDS,
): VerifyOutcome {
  const id = message.headers('webhook-id');
  const timestamp = message.headers('webhook-timestamp');
  const signature = message.headers('webhook-signature');
  if (!id || !timestamp || !signature) return refused('missing_headers');
  if (id.length > MAX_ID_CHARS || id.includes('.')) return refused('malformed_headers');
  if (!/^[0-9]{1,12}$/.test(timestamp)) return refused('malformed_headers');

  const seconds = Number(timestamp);
  const ageSeconds = Math.floor(message.nowMs / 1000) - seconds;
  if (ageSeconds > toleranceSeconds) return refused('too_old');
  if (ageSeconds < -toleranceSeconds) return refused('too_new');

  const given = signature.split(' ').slice(0, MAX_SIGNATURES);
  const date = new Date(seconds * 1000);
  for (const key of keys) {
    const expected = new Webhook(key).sign(id, date, message.body);
    if (given.some((candidate) => equalInConstantTime(candidate, expected))) {
      return { outcome: 'verified', id };
    }
  }
  return refused('no_match');
}

/**
 * The bytes of a `whsec_…` key, or undefined when it is not one (wrong prefix, not base64, not 24 to 64 bytes).
 */
export function decodeWebhookKey(key: string): Uint8Array | undefined {
  if (!key.startsWith(PREFIX)) return undefined;
  const encoded = key.slice(PREFIX.length);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) || encoded.length % 4 !== 0) return undefined;
  const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0));
  return bytes.length >= MIN_KEY_BYTES && bytes.length <= MAX_KEY_BYTES ? bytes : undefined;
}

/** The time taken tells the length of the texts, which is public, and nothing about where they differ. */
function equalInConstantTime(left: string, right: string): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let at = 0; at < left.length; at += 1) {
    difference |= left.charCodeAt(at) ^ right.charCodeAt(at);
  }
  return difference === 0;
}

function refused(reason: SignatureFault): VerifyOutcome {
  return { outcome: 'refused', reason };
}
