import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { beginRequest } from '../../shared/queue/begin-request.ts';
import { endRequest } from '../../shared/queue/end-request.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const begin = (key: string, more: Partial<Parameters<typeof beginRequest>[1]> = {}) =>
  beginRequest(db.sql, { actor: 'shop', key, fingerprint: 'f', seed: uuidv7(), ...more });
const answer = { status: 201, headers: { location: '/v1/jobs/1' }, body: '{"id":"1"}' };

describe('leasehold.begin_request and leasehold.end_request', () => {
  test('the first call is new, and a later one is answered from the record', async () => {
    expect(await begin('a')).toMatchObject({ outcome: 'new' });
    await endRequest(db.sql, { actor: 'shop', key: 'a', answer });
    expect(await begin('a')).toEqual({ outcome: 'replay', ...answer });
    await endRequest(db.sql, { actor: 'shop', key: 'a', answer: { ...answer, status: 500 } });
    expect(await begin('a')).toEqual({ outcome: 'replay', ...answer });
  });

  test('another request under the same key is a mismatch, another actor is not', async () => {
    await begin('b');
    expect(await begin('b', { fingerprint: 'other' })).toEqual({ outcome: 'mismatch' });
    await endRequest(db.sql, { actor: 'shop', key: 'b', answer });
    expect(await begin('b', { fingerprint: 'other' })).toEqual({ outcome: 'mismatch' });
    expect(await begin('b', { actor: 'someone else' })).toMatchObject({ outcome: 'new' });
  });

  test('while the first call runs, others are in flight; when it never ends, one takes over with the same seed', async () => {
    const first = await begin('c');
    expect(await begin('c')).toEqual({ outcome: 'in_flight' });
    await db.pool.query(
      `update leasehold.idempotency_keys set claimed_until = clock_timestamp() where key = 'c'`,
    );
    expect(await begin('c')).toEqual(first);
    expect(await begin('c')).toEqual({ outcome: 'in_flight' });
  });

  test('B.3 the same call once more after a lost answer is still new', async () => {
    const seed = uuidv7();
    const first = await begin('d', { seed });
    expect(await begin('d', { seed })).toEqual(first);
  });

  test('a request that failed on our side frees its key at once', async () => {
    await begin('e');
    await endRequest(db.sql, { actor: 'shop', key: 'e' });
    expect(await begin('e')).toMatchObject({ outcome: 'new' });
  });

  test('of ten calls at once, one is new', async () => {
    const outcomes = (await Promise.all(Array.from({ length: 10 }, () => begin('f')))).map(
      (one) => one.outcome,
    );
    expect(outcomes.filter((one) => one === 'new')).toHaveLength(1);
    expect(outcomes.filter((one) => one === 'in_flight')).toHaveLength(9);
  });

  test('a key is 1 to 255 characters', async () => {
    for (const key of ['', 'k'.repeat(256)])
      await expect(begin(key)).rejects.toThrow(/idempotency_key: give/);
    expect(await begin('k'.repeat(255))).toMatchObject({ outcome: 'new' });
  });
});
