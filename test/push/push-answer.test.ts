import { describe, expect, test } from 'vitest';

import { judgePush } from '../../shared/push/push-answer.ts';
import type { PushVerdict } from '../../shared/push/push-answer.ts';

const NOW = Date.parse('2026-11-30T08:49:37.000Z');

function judge(
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body: { text: string; whole: boolean } | undefined = { text: '', whole: true },
): PushVerdict {
  return judgePush({ status, headers: new Headers(headers), body }, NOW);
}

describe('what an answer makes of the attempt', () => {
  test.each([200, 201, 202, 204, 299])('%i completes', (status) => {
    expect(judge(status)).toEqual({ kind: 'returned', value: { status } });
  });

  test.each([408, 425, 429, 500, 502, 503, 504, 599])('S1.8 %i is transient', (status) => {
    expect(judge(status)).toMatchObject({
      kind: 'failed',
      failureClass: 'transient',
      error: { code: `http_${status}` },
    });
  });

  test.each([400, 401, 403, 404, 409, 410, 413, 422])('S1.8 %i is permanent', (status) => {
    expect(judge(status)).toMatchObject({
      kind: 'failed',
      failureClass: 'permanent',
      error: { code: `http_${status}` },
    });
  });

  test.each([0, 300, 301, 302, 303, 304, 307, 308])(
    'case J1 a redirect (%i) is a failed attempt that is tried again',
    (status) => {
      expect(judge(status, { location: 'http://169.254.169.254/' })).toMatchObject({
        kind: 'failed',
        failureClass: 'transient',
        error: { code: 'http_redirect' },
      });
    },
  );

  test('202 with Leasehold-Async: 1 hands the lease over, and nothing else does', () => {
    expect(judge(202, { 'leasehold-async': '1' })).toEqual({ kind: 'handed_over' });
    expect(judge(202, { 'leasehold-async': '0' })).toMatchObject({ kind: 'returned' });
    expect(judge(200, { 'leasehold-async': '1' })).toMatchObject({ kind: 'returned' });
    expect(judge(500, { 'leasehold-async': '1' })).toMatchObject({ kind: 'failed' });
  });
});

describe('case J3 Retry-After of a push', () => {
  test.each([429, 503, 302])('is honoured with %i', (status) => {
    expect(judge(status, { 'retry-after': '2' })).toMatchObject({ retryAfterMs: 2000 });
    expect(judge(status, { 'retry-after': 'Mon, 30 Nov 2026 08:51:37 GMT' })).toMatchObject({
      retryAfterMs: 120_000,
    });
    expect(judge(status, { 'retry-after': '99999999999' })).toMatchObject({
      retryAfterMs: 30 * 86_400_000,
    });
  });

  test('junk means the usual backoff', () => {
    expect(judge(503, { 'retry-after': 'soon' })).not.toHaveProperty('retryAfterMs');
    expect(judge(503)).not.toHaveProperty('retryAfterMs');
  });

  test('does not bring back what is final', () => {
    expect(judge(404, { 'retry-after': '2' })).not.toHaveProperty('retryAfterMs');
  });
});

describe('case J1 what is kept of an answer is short', () => {
  const JSON_TYPE = { 'content-type': 'application/json' };

  test('JSON as JSON, text as text', () => {
    expect(judge(200, JSON_TYPE, { text: '{"id":7}', whole: true })).toMatchObject({
      value: { status: 200, body: { id: 7 } },
    });
    expect(judge(200, {}, { text: '{"id":7}', whole: true })).toMatchObject({
      value: { body: '{"id":7}' },
    });
  });

  test('JSON that cannot be stored exactly stays text', () => {
    for (const text of ['{"id":9007199254740993}', '{bad', '{"a":1,"a":2}']) {
      expect(judge(200, JSON_TYPE, { text, whole: true })).toMatchObject({ value: { body: text } });
    }
  });

  test('a cut answer says that it was cut', () => {
    expect(judge(200, JSON_TYPE, { text: '[1,2', whole: false })).toMatchObject({
      value: { status: 200, body: '[1,2', cut: true },
    });
  });

  test('an answer that could not be read is none', () => {
    expect(judgePush({ status: 200, headers: new Headers(), body: undefined }, NOW)).toEqual({
      kind: 'returned',
      value: { status: 200 },
    });
  });

  test('of a failure the first 1,000 characters, without what Postgres cannot hold', () => {
    const verdict = judge(500, {}, { text: `a\u0000b${'x'.repeat(4000)}`, whole: true });
    if (verdict.kind !== 'failed') throw new Error(verdict.kind);
    const response = verdict.error['response'] as string;
    expect(response).toMatch(/^abx+…$/);
    expect(response.length).toBeLessThanOrEqual(1000);
  });
});
