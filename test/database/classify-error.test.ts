import { describe, expect, test } from 'vitest';
import { classifyError } from '../../shared/database/classify-error.ts';

function coded(code: string): Error {
  return Object.assign(new Error('from Postgres'), { code, severity: 'ERROR' });
}

describe('what a failure says about the statement', () => {
  test.each(['40001', '40P01', '55P03'])('%s: rolled back, worth another try', (code) => {
    expect(classifyError(coded(code), { httpStatus: 400 })).toEqual({
      kind: 'retryable',
      sqlState: code,
    });
  });

  test.each(['25006', '53300', '53100', '53200'])('%s: not executed, and it passes', (code) => {
    expect(classifyError(coded(code)).kind).toBe('retryable');
  });

  test.each(['08006', '08P01', '57P01', '57P02', '57P03', '57P05', '40003'])(
    '%s: a SQLSTATE that is no proof of rollback',
    (code) => {
      expect(classifyError(coded(code), { httpStatus: 400 })).toEqual({
        kind: 'unknown',
        sqlState: code,
      });
    },
  );

  test.each(['23505', '42P01', '22P02', '40002', 'LH001', 'P0001', '57014', '3D000', '28P01'])(
    '%s: failed for good',
    (code) => {
      expect(classifyError(coded(code), { httpStatus: 400 })).toEqual({
        kind: 'definite',
        sqlState: code,
      });
    },
  );

  test('57014 after our own abort may have finished first', () => {
    expect(classifyError(coded('57014'), { abortedByUs: true }).kind).toBe('unknown');
    expect(classifyError(coded('23505'), { abortedByUs: true }).kind).toBe('definite');
  });

  test.each([413, 401, 403, 404, 405, 302])(
    'HTTP %i: refused before it reached a database',
    (httpStatus) => {
      expect(classifyError(new Error('Server error'), { httpStatus }).kind).toBe('definite');
    },
  );

  test.each([200, 400, 408, 425, 429, 500, 502, 503, 504, 507])(
    'HTTP %i without a SQLSTATE is unknown',
    (httpStatus) => {
      expect(classifyError(new Error('Server error'), { httpStatus })).toEqual({
        kind: 'unknown',
        sqlState: undefined,
      });
    },
  );

  test.each([
    new TypeError('terminated'),
    new SyntaxError('Unexpected end of JSON input'),
    new DOMException('timed out', 'TimeoutError'),
    Object.assign(new Error('x'), { code: '', severity: '' }),
    Object.assign(new Error('x'), { code: '08P01' }),
    Object.assign(new Error('x'), { code: '23505', severity: '' }),
    Object.assign(new Error('write'), { code: 'EPIPE' }),
    Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
    'text',
    null,
    undefined,
  ])('%s is unknown, and no SQLSTATE', (error) => {
    expect(classifyError(error)).toEqual({ kind: 'unknown', sqlState: undefined });
  });
});
