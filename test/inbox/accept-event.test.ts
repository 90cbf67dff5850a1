/** The inbox as SQL: what a consumer in any language has. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

type Policy = 'any' | 'apply-newer-only' | 'strict';
interface Delivery {
  readonly consumer?: string;
  readonly id?: string | null;
  readonly sender?: string | null;
  readonly type?: string | null;
  readonly aggregate?: string | null;
  readonly version?: number | null;
  readonly policy?: Policy;
  readonly raise?: boolean;
}

async function accept(delivery: Delivery = {}): Promise<Record<string, unknown>> {
  const { consumer = 'inventory', id = randomUUID(), sender = '', policy = 'any' } = delivery;
  const { type = 'order', aggregate = null, version = null, raise = false } = delivery;
  const { rows } = await db.pool.query<Record<string, unknown>>(
    'select * from leasehold.accept_event($1, $2, $3, $4, $5, $6, $7, $8)',
    [consumer, id, type, aggregate, version, policy, raise, sender],
  );
  return rows[0] ?? {};
}

async function duplicatesOf(id: string): Promise<number | undefined> {
  const { rows } = await db.pool.query<{ duplicates: number }>(
    'select duplicates from leasehold.inbox_events where event_id = $1',
    [id],
  );
  return rows[0]?.duplicates;
}

describe('leasehold.accept_event', () => {
  test('S4.5 an event is accepted once, and each repeat is counted', async () => {
    const id = randomUUID();
    expect(await accept({ id })).toMatchObject({ outcome: 'accepted' });
    expect(await accept({ id })).toMatchObject({ outcome: 'duplicate' });
    expect(await accept({ id })).toMatchObject({ outcome: 'duplicate' });
    expect(await duplicatesOf(id)).toBe(2);
  });

  test('S4.5 the duplicate delivered to two consumers: each applies it once', async () => {
    const id = randomUUID();
    expect(await accept({ id, consumer: 'inventory' })).toMatchObject({ outcome: 'accepted' });
    expect(await accept({ id, consumer: 'mails' })).toMatchObject({ outcome: 'accepted' });
    expect(await accept({ id, consumer: 'inventory' })).toMatchObject({ outcome: 'duplicate' });
    expect(await accept({ id, consumer: 'mails' })).toMatchObject({ outcome: 'duplicate' });
  });

  test('case I5 one id of two senders is two events, and one aggregate of two senders is two', async () => {
    const id = randomUUID();
    const aggregate = randomUUID();
    const strict = { id, aggregate, version: 1, policy: 'strict' } as const;
    expect(await accept({ ...strict, sender: 'shop' })).toMatchObject({ outcome: 'accepted' });
    expect(await accept({ ...strict, sender: 'bank' })).toMatchObject({ outcome: 'accepted' });
    expect(await accept({ ...strict, sender: 'shop' })).toMatchObject({ outcome: 'duplicate' });
    const second = { aggregate, version: 2, policy: 'strict' } as const;
    expect(await accept({ ...second, sender: 'shop' })).toMatchObject({ outcome: 'accepted' });
    expect(await accept({ ...second, sender: 'shop' })).toMatchObject({ outcome: 'stale' });
    expect(await accept({ ...second, sender: 'bank' })).toMatchObject({ outcome: 'accepted' });
  });

  test('an id and a sender of 200 characters are taken', async () => {
    const longest = { id: '🚀'.repeat(200), sender: 's'.repeat(200) };
    expect(await accept(longest)).toMatchObject({ outcome: 'accepted' });
    expect(await accept(longest)).toMatchObject({ outcome: 'duplicate' });
  });

  test('with p_raise everything but accepted raises, and nothing of it stays', async () => {
    const id = randomUUID();
    const aggregate = randomUUID();
    const strict = { aggregate, policy: 'strict', raise: true } as const;
    expect(await accept({ ...strict, id, version: 1 })).toMatchObject({ outcome: 'accepted' });
    const refused = { code: 'LH006' };
    await expect(accept({ ...strict, id, version: 1 })).rejects.toMatchObject({
      ...refused,
      message: 'duplicate',
    });
    await expect(accept({ ...strict, version: 1 })).rejects.toMatchObject({
      ...refused,
      message: 'stale',
    });
    await expect(accept({ ...strict, version: 4 })).rejects.toMatchObject({
      ...refused,
      message: 'gap: version 2 is expected',
    });
    expect(await duplicatesOf(id)).toBe(0);
  });
});

describe('leasehold.new_receipt_problem names the rule that is broken', () => {
  test.each<[string, Delivery, string]>([
    ['case I5 no id', { id: null }, 'event_id: '],
    ['case I5 an empty id', { id: '' }, 'event_id: '],
    ['case I5 an id of 10 KB', { id: 'x'.repeat(10_240) }, 'event_id: '],
    ['an id of 201 characters', { id: 'x'.repeat(201) }, 'event_id: '],
    ['an id with a line break', { id: 'a\nb' }, 'event_id: '],
    ['no consumer', { consumer: '' }, 'consumer: '],
    ['a long consumer', { consumer: 'x'.repeat(129) }, 'consumer: '],
    ['no sender at all', { sender: null }, 'sender: '],
    ['a long sender', { sender: 'x'.repeat(201) }, 'sender: '],
    ['an unknown policy', { policy: 'newest' as Policy }, 'policy: '],
    ['strict without a version', { policy: 'strict', aggregate: '1' }, 'version: '],
    ['newer only without an aggregate', { policy: 'apply-newer-only', version: 1 }, 'version: '],
    ['version 0', { policy: 'strict', aggregate: '1', version: 0 }, 'version: '],
    ['a long aggregate', { aggregate: 'x'.repeat(201), version: 1 }, 'aggregate_id: '],
    ['a long aggregate type', { type: 'x'.repeat(129), version: 1 }, 'aggregate_type: '],
  ])('%s is refused by name', async (_what, delivery, start) => {
    await expect(accept(delivery)).rejects.toMatchObject({
      code: 'LH001',
      message: expect.stringMatching(`^${start}`) as string,
    });
  });
});

/** What each policy makes of versions as they come; `2` accepted, `2=` stale, `2!` a gap, `2"` the same event again. */
describe('S4.4 versions out of order', () => {
  test.each<[Policy, readonly number[], string]>([
    ['any', [3, 1, 2, 2], '3 1 2 2"'],
    ['apply-newer-only', [1, 3, 2, 5, 4, 6, 6], '1 3 2= 5 4= 6 6"'],
    ['apply-newer-only', [7, 7, 1], '7 7" 1='],
    ['strict', [1, 3, 2, 3, 5, 4, 5, 2], '1 3! 2 3 5! 4 5 2"'],
    ['strict', [2, 1, 2], '2! 1 2'],
  ])('%s: %j', async (policy, versions, expected) => {
    const aggregate = randomUUID();
    const ids = new Map(versions.map((version) => [version, randomUUID()]));
    const seen: string[] = [];
    for (const version of versions) {
      const id = ids.get(version) ?? '';
      const { outcome } = await accept({ id, aggregate, version, policy });
      const mark: Record<string, string> = { accepted: '', stale: '=', gap: '!', duplicate: '"' };
      seen.push(`${version}${mark[String(outcome)] ?? '?'}`);
    }
    expect(seen.join(' ')).toBe(expected);
  });

  test('a gap names the version that is missing, and tells of none before', async () => {
    const aggregate = randomUUID();
    const strict = { aggregate, policy: 'strict' } as const;
    expect(await accept({ ...strict, version: 1 })).toMatchObject({ applied_version: '0' });
    expect(await accept({ ...strict, version: 2 })).toMatchObject({ applied_version: '1' });
    expect(await accept({ ...strict, version: 9 })).toEqual({
      outcome: 'gap',
      applied_version: '2',
      expected_version: '3',
    });
  });

  test('aggregates are independent: a gap in one holds no other back', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    const strict = { policy: 'strict' } as const;
    expect(await accept({ ...strict, aggregate: one, version: 2 })).toMatchObject({
      outcome: 'gap',
    });
    expect(await accept({ ...strict, aggregate: other, version: 1 })).toMatchObject({
      outcome: 'accepted',
    });
  });
});
