import { describe, expect, test } from 'vitest';

import { parseConfig } from '../../shared/config.ts';
import { LeaseholdError } from '../../shared/errors.ts';

const KEY = `whsec_${btoa('a key of thirty-two bytes or so!')}`;
const GOOD = {
  DATABASE_URL: 'postgres://app:hunter2@ep-x.eu.aws.neon.tech/jobs',
  AUTH_SECRET: 'a-secret-that-has-thirty-two-bytes',
  POKE_SECRETS: KEY,
};

function faults(record: Record<string, unknown>): string[] {
  try {
    parseConfig({ ...GOOD, ...record });
  } catch (error) {
    if (error instanceof LeaseholdError) return error.problems.map(({ path }) => path);
  }
  return [];
}

describe('settings of the outbox', () => {
  test('without a target nothing is published by HTTP, and the rest has defaults', () => {
    expect(parseConfig(GOOD).outbox).toMatchObject({
      http: undefined,
      maxAttempts: 10,
      payloadDays: 30,
      eventDays: 90,
      inboxDays: 90,
    });
  });

  test('a target with its key, format and source; numbers as text or as numbers', () => {
    const { outbox } = parseConfig({
      ...GOOD,
      OUTBOX_TARGET_URL: 'https://events.example.com/in?tenant=1',
      OUTBOX_SECRETS: KEY,
      OUTBOX_FORMAT: 'binary',
      OUTBOX_SOURCE: 'https://shop.example.com/orders',
      OUTBOX_MAX_ATTEMPTS: '3',
      OUTBOX_PAYLOAD_DAYS: 7,
    });
    expect(outbox).toMatchObject({
      http: { format: 'binary', source: 'https://shop.example.com/orders' },
      maxAttempts: 3,
      payloadDays: 7,
    });
    expect(outbox.http?.url.href).toBe('https://events.example.com/in?tenant=1');
    expect(outbox.http?.keys.map((key) => key.reveal())).toEqual([KEY]);
    expect(Object.isFrozen(outbox)).toBe(true);
  });

  test.each<[string, Record<string, unknown>]>([
    ['OUTBOX_TARGET_URL', { OUTBOX_TARGET_URL: 'ftp://x', OUTBOX_SECRETS: KEY }],
    ['OUTBOX_TARGET_URL', { OUTBOX_TARGET_URL: 'https://u:p@x.example', OUTBOX_SECRETS: KEY }],
    ['OUTBOX_TARGET_URL', { OUTBOX_TARGET_URL: 'http://x.example', OUTBOX_SECRETS: KEY }],
    ['OUTBOX_SECRETS', { OUTBOX_TARGET_URL: 'https://x.example' }],
    ['OUTBOX_SECRETS', { OUTBOX_TARGET_URL: 'https://x.example', OUTBOX_SECRETS: 'hunter2' }],
    ['OUTBOX_FORMAT', { OUTBOX_FORMAT: 'batch' }],
    ['OUTBOX_SOURCE', { OUTBOX_SOURCE: 'with space' }],
    ['OUTBOX_MAX_ATTEMPTS', { OUTBOX_MAX_ATTEMPTS: '0' }],
    ['OUTBOX_MAX_ATTEMPTS', { OUTBOX_MAX_ATTEMPTS: '101' }],
    ['OUTBOX_MAX_ATTEMPTS', { OUTBOX_MAX_ATTEMPTS: '1.5' }],
    ['OUTBOX_PAYLOAD_DAYS', { OUTBOX_PAYLOAD_DAYS: '0' }],
    ['OUTBOX_EVENT_DAYS', { OUTBOX_EVENT_DAYS: '1' }],
    ['OUTBOX_EVENT_DAYS', { OUTBOX_EVENT_DAYS: '20' }],
    ['INBOX_DAYS', { INBOX_DAYS: '36501' }],
  ])('names %s: %j', (name, record) => {
    expect(faults(record)).toEqual([name]);
  });

  test('plain http goes where pushes may, and the edges are taken', () => {
    expect(
      faults({
        OUTBOX_TARGET_URL: 'http://127.0.0.1:8080/',
        OUTBOX_SECRETS: KEY,
        PUSH_ALLOW_HTTP: 'on',
        OUTBOX_MAX_ATTEMPTS: '100',
        OUTBOX_PAYLOAD_DAYS: '1',
        OUTBOX_EVENT_DAYS: '36500',
        INBOX_DAYS: '1',
      }),
    ).toEqual([]);
  });
});
