/** An event applied once, in the caller's own transaction or in one batch. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { processOnce, processOnceIn } from '../../shared/inbox/process-once.ts';
import type { Receipt } from '../../shared/inbox/receipt.ts';
import { neonQuery } from '../../shared/transaction/neon-query.ts';
import type { Transaction } from '../../shared/transaction/statement.ts';
import { officialDriver, type OfficialDriver } from '../endpoint/support/official-driver.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { DRIVERS, type Driver } from '../transaction/support/drivers.ts';
import { createNotes, notes } from '../transaction/support/notes.ts';
import { createPrismaClient } from '../transaction/support/prisma-client.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await createNotes(db.pool);
});
beforeEach(() => db.pool.query('truncate notes'));
afterAll(() => db.drop());

function receipt(overrides: Partial<Receipt> = {}, version = 1): Receipt {
  const event = { id: randomUUID(), aggregateType: 'order', aggregateId: randomUUID(), version };
  return { consumer: 'inventory', event, ...overrides };
}

function later(first: Receipt, version: number): Receipt {
  return { ...first, event: { ...first.event, id: randomUUID(), version } };
}

async function duplicatesOf({ event }: Receipt): Promise<number | undefined> {
  const { rows } = await db.pool.query<{ duplicates: number }>(
    'select duplicates from leasehold.inbox_events where event_id = $1',
    [event.id],
  );
  return rows[0]?.duplicates;
}

describe.each(Object.entries(DRIVERS))('in a transaction of %s', (_name, open) => {
  let driver: Driver;
  beforeAll(async () => {
    driver = await open(db.pgUrl);
  });
  afterAll(() => driver.close());

  const apply = (one: Receipt, note: string): ReturnType<typeof processOnceIn<string>> =>
    driver.transact(({ transaction, write }) =>
      processOnceIn(transaction, one, async () => {
        await write(note);
        return `wrote ${note}`;
      }),
    );

  test('S4.5 the effect and the record of the event are committed together, once', async () => {
    const one = receipt();
    expect(await apply(one, 'first')).toEqual({ outcome: 'applied', value: 'wrote first' });
    expect(await apply(one, 'again')).toEqual({ outcome: 'duplicate' });
    expect(await duplicatesOf(one)).toBe(1);
    expect(await notes(db.pool)).toEqual(['first']);
  });

  test('they are rolled back together', async () => {
    const one = receipt();
    const failing = driver.transact(({ transaction, write }) =>
      processOnceIn(transaction, one, async () => {
        await write('lost');
        throw new Error('no stock');
      }),
    );
    await expect(failing).rejects.toThrow('no stock');
    expect(await duplicatesOf(one)).toBeUndefined();
    expect(await apply(one, 'kept')).toMatchObject({ outcome: 'applied' });
    expect(await notes(db.pool)).toEqual(['kept']);
  });

  test('a stale version and a gap have no effect', async () => {
    const one = receipt({ policy: 'strict' });
    expect(await apply(later(one, 2), 'two')).toEqual({ outcome: 'gap', expectedVersion: 1 });
    expect(await apply(one, 'one')).toMatchObject({ outcome: 'applied' });
    expect(await apply(later(one, 1), 'old')).toEqual({ outcome: 'stale' });
    expect(await apply(later(one, 9), 'nine')).toEqual({ outcome: 'gap', expectedVersion: 2 });
    expect(await notes(db.pool)).toEqual(['one']);
  });
});

describe('in one batch over HTTP', () => {
  let driver: OfficialDriver;
  beforeAll(async () => {
    driver = await officialDriver(db);
  });
  afterAll(() => driver.close());

  const connection = (): Transaction => ({
    run: ({ text, values }) => driver.sql.query(text, [...values]),
  });
  const apply = (one: Receipt, note: string, counting?: Transaction): Promise<unknown> =>
    processOnce(
      one,
      (accept) =>
        driver.sql.transaction([
          neonQuery(driver.sql, accept),
          driver.sql`insert into notes (note) values (${note}) returning note`,
        ]),
      counting === undefined ? {} : { counting },
    );

  test('S4.5 one round trip; a duplicate is a no-op', async () => {
    const one = receipt();
    const before = driver.endpoint.requests;
    expect(await apply(one, 'first')).toMatchObject({
      outcome: 'applied',
      value: [[{ outcome: 'accepted' }], [{ note: 'first' }]],
    });
    expect(await apply(one, 'again')).toEqual({ outcome: 'duplicate' });
    expect(driver.endpoint.requests - before).toBe(2);
    expect(await notes(db.pool)).toEqual(['first']);
  });

  test('a duplicate is counted where a connection for it is given', async () => {
    const one = receipt();
    await apply(one, 'first');
    await apply(one, 'uncounted');
    expect(await duplicatesOf(one)).toBe(0);
    expect(await apply(one, 'counted', connection())).toEqual({ outcome: 'duplicate' });
    expect(await duplicatesOf(one)).toBe(1);
    expect(await notes(db.pool)).toEqual(['first']);
  });

  test('S4.5 when the answer to the commit is lost, the next try says that it was applied', async () => {
    const one = receipt();
    driver.endpoint.faults.next({ kind: 'drop_after_commit' });
    await expect(apply(one, 'first')).rejects.toThrow('Error connecting');
    expect(await apply(one, 'again')).toEqual({ outcome: 'duplicate' });
    expect(await notes(db.pool)).toEqual(['first']);
  });

  test('S4.5 when the batch never arrived, the next try applies it', async () => {
    const one = receipt();
    driver.endpoint.faults.next({ kind: 'drop_before' });
    await expect(apply(one, 'lost')).rejects.toThrow('Error connecting');
    expect(await apply(one, 'kept')).toMatchObject({ outcome: 'applied' });
    expect(await notes(db.pool)).toEqual(['kept']);
  });

  test('S4.5 ten at once have one effect', async () => {
    const one = receipt();
    const all = await Promise.all(Array.from({ length: 10 }, (_, at) => apply(one, `try ${at}`)));
    expect(all.filter((end) => (end as { outcome: string }).outcome === 'applied')).toHaveLength(1);
    expect(await notes(db.pool)).toHaveLength(1);
  });

  test('a stale version and a gap roll the effects back', async () => {
    const one = receipt({ policy: 'strict' });
    expect(await apply(later(one, 3), 'three')).toEqual({ outcome: 'gap', expectedVersion: 1 });
    expect(await apply(one, 'one')).toMatchObject({ outcome: 'applied' });
    expect(await apply(later(one, 1), 'old')).toEqual({ outcome: 'stale' });
    expect(await notes(db.pool)).toEqual(['one']);
  });

  test('an error of the effects is thrown on, even one that speaks of duplicates', async () => {
    const one = receipt();
    await db.pool.query('create unique index one_note on notes (note)');
    await apply(receipt(), 'twin');
    await expect(apply(one, 'twin')).rejects.toMatchObject({ code: '23505' });
    await db.pool.query('drop index one_note');
    expect(await apply(one, 'alone')).toMatchObject({ outcome: 'applied' });
  });
});

test("S4.5 in Prisma's list of queries a duplicate is a no-op", async () => {
  const prisma = createPrismaClient(db.pgUrl);
  const apply = (one: Receipt, note: string): Promise<unknown> =>
    processOnce(one, ({ text, values }) =>
      prisma.$transaction([
        prisma.$queryRawUnsafe(text, ...values),
        prisma.$executeRawUnsafe('insert into notes (note) values ($1)', note),
      ]),
    );
  const one = receipt({ policy: 'strict' });
  expect(await apply(later(one, 2), 'two')).toEqual({ outcome: 'gap', expectedVersion: 1 });
  expect(await apply(one, 'one')).toMatchObject({ outcome: 'applied' });
  expect(await apply(one, 'again')).toEqual({ outcome: 'duplicate' });
  expect(await apply(later(one, 1), 'old')).toEqual({ outcome: 'stale' });
  expect(await notes(db.pool)).toEqual(['one']);
  await prisma.$disconnect();
});
