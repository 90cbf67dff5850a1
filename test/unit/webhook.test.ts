import { describe, expect, test } from 'vitest';

import { POKE_TOLERANCE_SECONDS } from '../../shared/limits.ts';
import { decodeWebhookKey, signWebhook, verifyWebhook } from '../../shared/webhook.ts';
import type { SignedHeaders, VerifyOutcome } from '../../shared/webhook.ts';

/** The published example of Standard Webhooks. */
const KEY = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER_KEY = `whsec_${btoa('another key of thirty-two bytes!')}`;
const MESSAGE = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  body: '{"test": 2432232314}',
  nowMs: 1_614_265_330_000,
};

function verify(
  headers: Partial<SignedHeaders>,
  keys: readonly string[] = [KEY],
  message: { readonly body: string; readonly nowMs: number } = MESSAGE,
): VerifyOutcome {
  const byName = new Map(Object.entries(headers));
  return verifyWebhook(keys, { ...message, headers: (name) => byName.get(name) });
}

test('signs as the published example', () => {
  expect(signWebhook(KEY, MESSAGE)).toEqual({
    'webhook-id': MESSAGE.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

describe('verification', () => {
  const signed = signWebhook(KEY, MESSAGE);

  test('takes what either live key signed', () => {
    expect(verify(signed, [OTHER_KEY, KEY])).toEqual({ outcome: 'verified', id: MESSAGE.id });
    expect(verify(signed, [KEY, OTHER_KEY]).outcome).toBe('verified');
    expect(verify(signed, [OTHER_KEY])).toEqual({ outcome: 'refused', reason: 'no_match' });
  });

  test('takes one good signature among several', () => {
    const list = `v1a,abc v1,nonsense ${signed['webhook-signature']}`;
    expect(verify({ ...signed, 'webhook-signature': list }).outcome).toBe('verified');
  });

  test.each<[string, Partial<SignedHeaders>, string]>([
    ['another body', signed, 'no_match'],
    ['no headers', {}, 'missing_headers'],
    ['another id', { ...signed, 'webhook-id': 'msg_2' }, 'no_match'],
    ['an id with a dot', { ...signed, 'webhook-id': 'a.1' }, 'malformed_headers'],
    ['a time with letters', { ...signed, 'webhook-timestamp': '1614265330x' }, 'malformed_headers'],
    ['another time', { ...signed, 'webhook-timestamp': '1614265331' }, 'no_match'],
    ['another version', { ...signed, 'webhook-signature': 'v2,abc' }, 'no_match'],
  ])('refuses %s', (name, headers, reason) => {
    const body = name === 'another body' ? '{"test": 1}' : MESSAGE.body;
    expect(verify(headers, [KEY], { ...MESSAGE, body })).toEqual({ outcome: 'refused', reason });
  });

  test.each([
    [POKE_TOLERANCE_SECONDS, 'verified'],
    [-POKE_TOLERANCE_SECONDS, 'verified'],
    [POKE_TOLERANCE_SECONDS + 1, 'too_old'],
    [-POKE_TOLERANCE_SECONDS - 1, 'too_new'],
  ])('%i seconds later: %s', (seconds, expected) => {
    const outcome = verify(signed, [KEY], { ...MESSAGE, nowMs: MESSAGE.nowMs + seconds * 1000 });
    expect('reason' in outcome ? outcome.reason : outcome.outcome).toBe(expected);
  });
});

test.each([
  '',
  'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  'whsec_',
  'whsec_short',
  'whsec_!!!!',
  'whsec_YWJj',
])('%j is no key', (key) => {
  expect(decodeWebhookKey(key)).toBeUndefined();
});
