/** Two deliveries of one event at once, with the interleaving forced. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { processOnceIn, type ProcessOutcome } from '../../shared/inbox/process-once.ts';
import type { Receipt } from '../../shared/inbox/receipt.ts';
import { pgTransaction } from '../../shared/transaction/pg-transaction.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createNotes, notes } from '../transaction/support/notes.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await createNotes(db.pool);
});
beforeEach(() => db.pool.query('truncate notes'));
afterAll(() => db.drop());

interface Delivery {
  readonly pid: number;
  process(receipt: Receipt): Promise<ProcessOutcome<void>>;
  end(how: 'commit' | 'rollback'): Promise<void>;
}

async function delivery(note: string): Promise<Delivery> {
  const client = await db.pool.connect();
  await client.query('begin');
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return {
    pid: rows[0]?.pid ?? 0,
    process: (receipt) =>
      processOnceIn(pgTransaction(client), receipt, async () => {
        await client.query('insert into notes (note) values ($1)', [note]);
      }),
    end: async (how) => {
      await client.query(how);
      client.release();
    },
  };
}

/** Resolves when that session waits for a lock. */
async function untilBlocked({ pid }: Delivery): Promise<void> {
  for (;;) {
    const { rows } = await db.pool.query<{ blocked: boolean }>(
      'select cardinality(pg_blocking_pids($1)) > 0 as blocked',
      [pid],
    );
    if (rows[0]?.blocked) return;
    await pause(5);
  }
}

describe.each(['any', 'apply-newer-only', 'strict'] as const)('policy %s', (policy) => {
  const receipt = (id = randomUUID(), aggregateId = randomUUID()): Receipt => ({
    consumer: 'inventory',
    policy,
    event: { id, aggregateType: 'order', aggregateId, version: 1 },
  });

  test('S4.5 two concurrent deliveries give one effect: the second waits, and hears duplicate', async () => {
    const [first, second] = await Promise.all([delivery('first'), delivery('second')]);
    const event = receipt();
    expect(await first.process(event)).toMatchObject({ outcome: 'applied' });
    const waiting = second.process(event);
    await untilBlocked(second);
    await first.end('commit');
    expect(await waiting).toEqual({ outcome: 'duplicate' });
    await second.end('commit');
    expect(await notes(db.pool)).toEqual(['first']);
  });

  test('S4.5 if the first rolls back, the second applies it', async () => {
    const [first, second] = await Promise.all([delivery('first'), delivery('second')]);
    const event = receipt();
    expect(await first.process(event)).toMatchObject({ outcome: 'applied' });
    const waiting = second.process(event);
    await untilBlocked(second);
    await first.end('rollback');
    expect(await waiting).toMatchObject({ outcome: 'applied' });
    await second.end('commit');
    expect(await notes(db.pool)).toEqual(['second']);
  });

  test('S4.5 twenty deliveries at once give one effect', async () => {
    const event = receipt();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, async (_, at) => {
        const one = await delivery(`delivery ${at}`);
        const { outcome } = await one.process(event);
        await one.end('commit');
        return outcome;
      }),
    );
    expect(outcomes.toSorted()).toEqual(['applied', ...Array<string>(19).fill('duplicate')]);
    expect(await notes(db.pool)).toHaveLength(1);
  });

  test('leasehold.lock_inbox_version: two versions of one aggregate at once are applied one after the other', async () => {
    if (policy === 'any') return;
    const [first, second] = await Promise.all([delivery('one'), delivery('two')]);
    const one = receipt();
    const aggregateId = one.event.aggregateId ?? '';
    const two = { ...receipt(), event: { ...receipt().event, aggregateId, version: 2 } };
    await first.process(one);
    const waiting = second.process(two);
    await untilBlocked(second);
    await first.end('commit');
    expect(await waiting).toMatchObject({ outcome: 'applied' });
    await second.end('commit');
    expect(await notes(db.pool)).toEqual(['one', 'two']);
  });
});

test('an effect that fails takes the record of its event with it', async () => {
  const event = { id: randomUUID() };
  const client: pg.PoolClient = await db.pool.connect();
  await client.query('begin');
  const failing = processOnceIn(pgTransaction(client), { consumer: 'c', event }, async () => {
    await client.query('insert into notes (note) values (null)');
  });
  await expect(failing).rejects.toMatchObject({ code: '23502' });
  await client.query('rollback');
  client.release();
  const again = await delivery('again');
  expect(await again.process({ consumer: 'c', event })).toMatchObject({ outcome: 'applied' });
  await again.end('commit');
  expect(await notes(db.pool)).toEqual(['again']);
});
