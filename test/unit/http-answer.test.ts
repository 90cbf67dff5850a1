import { describe, expect, test } from 'vitest';

import { judgeAnswer } from '../../shared/publish/http-answer.ts';

const NOW = Date.UTC(2030, 0, 1);

function judged(status: number, text = '', headers: Record<string, string> = {}): unknown {
  return judgeAnswer({ status, headers: new Headers(headers), text }, NOW);
}

describe('what an answer makes of an event', () => {
  test.each([200, 201, 202, 204, 299])('%i is published', (status) => {
    expect(judged(status, 'anything')).toEqual({ outcome: 'published' });
  });

  test.each([400, 413, 415, 422])('S4.7 %i rejects it, with what the receiver said', (status) => {
    expect(judged(status, ' schema version 9 is unknown\n')).toEqual({
      outcome: 'rejected',
      error: {
        code: `http_${status}`,
        message: `The receiver answered ${status}: schema version 9 is unknown`,
      },
    });
  });

  test.each([401, 403, 404, 405, 409, 410, 429, 500])('%i is tried again', (status) => {
    expect(judged(status)).toEqual({
      outcome: 'failed',
      error: { code: `http_${status}`, message: `The receiver answered ${status}.` },
    });
  });

  test.each([502, 503, 504])('%i is an outage', (status) => {
    expect(judged(status)).toMatchObject({ outcome: 'failed', away: true });
  });

  test.each([0, 301, 302, 307, 308])(
    'a redirect (%i) is not followed, and tried again',
    (status) => {
      expect(judged(status)).toMatchObject({ outcome: 'failed', error: { code: 'http_redirect' } });
    },
  );

  test.each([
    ['2', 2000],
    ['Tue, 01 Jan 2030 00:02:00 GMT', 120_000],
    ['999999', 86_400_000],
    ['Mon, 31 Dec 2029 23:00:00 GMT', 0],
  ])('case J3 Retry-After %s is heeded, up to a day', (value, retryAfterMs) => {
    expect(judged(429, '', { 'retry-after': value })).toMatchObject({ retryAfterMs });
  });

  test.each(['soon', '', '-1', '2, 3'])('case J3 Retry-After "%s" says nothing', (value) => {
    expect(judged(503, '', { 'retry-after': value })).not.toHaveProperty('retryAfterMs');
  });

  test('what is kept of an answer can be stored, and is short', () => {
    const outcome = judged(500, `${'x'.repeat(5000)}\u0000\ud800`) as {
      error: { message: string };
    };
    expect(outcome.error.message.length).toBeLessThan(1100);
    expect(outcome.error.message).not.toContain('\u0000');
    expect(outcome.error.message.isWellFormed()).toBe(true);
  });
});
