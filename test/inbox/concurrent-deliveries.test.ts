/** Two deliveries of one event at once, with the interleaving forced. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
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

const sessions = new Set<pg.Client>();
/** What a failed test has left open would hold up the next one. */
afterEach(async () => {
  await Promise.all([...sessions].map((client) => client.end()));
  sessions.clear();
});

/** A session with an open transaction. */
async function session(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: db.pgUrl });
  client.on('error', () => undefined); // cut off with the database
  await client.connect();
  sessions.add(client);
  await client.query('begin');
  return client;
}

async function endSession(client: pg.Client, how: 'commit' | 'rollback'): Promise<void> {
  await client.query(how);
  sessions.delete(client);
  await client.end();
}

async function delivery(note: string): Promise<Delivery> {
  const client = await session();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return {
    pid: rows[0]?.pid ?? 0,
    process: (receipt) =>
      processOnceIn(pgTransaction(client), receipt, async () => {
        await client.query('insert into notes (note) values ($1)', [note]);
      }),
    end: (how) => endSession(client, how),
  };
}

/** Resolves when that session waits for a lock. */
async function untilBlocked({ pid }: Delivery): Promise<void> {
  for (let look = 0; look < 1000; look += 1) {
    const { rows } = await db.pool.query<{ blocked: boolean }>(
      'select cardinality(pg_blocking_pids($1)) > 0 as blocked',
      [pid],
    );
    if (rows[0]?.blocked) return;
    await pause(5);
  }
  throw new Error('the session does not wait for anybody');
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
});

describe('leasehold.lock_inbox_version', () => {
  const at = (
    version: number,
    aggregateId: string,
    policy: 'strict' | 'apply-newer-only',
  ): Receipt => ({
    consumer: 'inventory',
    policy,
    event: { id: randomUUID(), aggregateType: 'order', aggregateId, version },
  });

  /** Version 1 is applied; then two deliveries at once, the second of which has to wait for the first. */
  async function raced(
    policy: 'strict' | 'apply-newer-only',
    versions: readonly [first: number, second: number],
    end: 'commit' | 'rollback' = 'commit',
  ): Promise<unknown> {
    const aggregateId = randomUUID();
    const before = await delivery('before');
    await before.process(at(1, aggregateId, policy));
    await before.end('commit');
    const [first, second] = await Promise.all([delivery('first'), delivery('second')]);
    expect(await first.process(at(versions[0], aggregateId, policy))).toMatchObject({
      outcome: 'applied',
    });
    const waiting = second.process(at(versions[1], aggregateId, policy));
    await untilBlocked(second);
    await first.end(end);
    const outcome = await waiting;
    await second.end('commit');
    return outcome;
  }

  test('strict: the next version waits for the one before it, and is applied behind it', async () => {
    expect(await raced('strict', [2, 3])).toMatchObject({ outcome: 'applied' });
    expect(await notes(db.pool)).toEqual(['before', 'first', 'second']);
  });

  test('a version is not applied past an event that is being parked behind it', async () => {
    const aggregateId = randomUUID();
    const before = await delivery('before');
    await before.process(at(1, aggregateId, 'strict'));
    await before.end('commit');
    const early = at(3, aggregateId, 'strict');
    const parking = await session();
    await parking.query('select leasehold.park_event($1, $2, $3, $4, $5, $6)', [
      early.consumer,
      early.event.id,
      'order',
      aggregateId,
      3,
      early.event,
    ]);
    const two = await delivery('two');
    const waiting = two.process(at(2, aggregateId, 'strict'));
    await untilBlocked(two);
    await endSession(parking, 'commit');
    expect(await waiting).toMatchObject({ outcome: 'applied' });
    await two.end('commit');
    // Whoever applied version 2 sees what waits behind it.
    const { rows } = await db.pool.query('select version from leasehold.parked_event($1, $2, $3)', [
      early.consumer,
      'order',
      aggregateId,
    ]);
    expect(rows).toEqual([{ version: '3' }]);
  });

  test('a version waits for a delivery that turns out to be a gap', async () => {
    const aggregateId = randomUUID();
    const before = await delivery('before');
    await before.process(at(1, aggregateId, 'strict'));
    await before.end('commit');
    const looking = await session();
    // Locks the row and changes nothing: a gap.
    await looking.query('select leasehold.accept_event($1, $2, $3, $4, $5, $6)', [
      'inventory',
      randomUUID(),
      'order',
      aggregateId,
      9,
      'strict',
    ]);
    const second = await delivery('two');
    const waiting = second.process(at(2, aggregateId, 'strict'));
    await untilBlocked(second);
    await endSession(looking, 'commit');
    expect(await waiting).toMatchObject({ outcome: 'applied' });
    await second.end('commit');
  });

  test('strict: if the one before it rolls back, it is a gap', async () => {
    expect(await raced('strict', [2, 3], 'rollback')).toEqual({
      outcome: 'gap',
      expectedVersion: 2,
    });
    expect(await notes(db.pool)).toEqual(['before']);
  });

  test('apply-newer-only: an older version waits for the newer one, and is stale then', async () => {
    expect(await raced('apply-newer-only', [3, 2])).toEqual({ outcome: 'stale' });
    expect(await notes(db.pool)).toEqual(['before', 'first']);
  });
});

test('an effect that fails takes the record of its event with it', async () => {
  const event = { id: randomUUID() };
  const client = await session();
  const failing = processOnceIn(pgTransaction(client), { consumer: 'c', event }, async () => {
    await client.query('insert into notes (note) values (null)');
  });
  await expect(failing).rejects.toMatchObject({ code: '23502' });
  await endSession(client, 'rollback');
  const again = await delivery('again');
  expect(await again.process({ consumer: 'c', event })).toMatchObject({ outcome: 'applied' });
  await again.end('commit');
  expect(await notes(db.pool)).toEqual(['again']);
});
