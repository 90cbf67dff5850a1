/** What a consumer does outside its database: it cannot be rolled back, so it is keyed, or made a job. */
import { randomUUID } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { effectKey } from '../../shared/inbox/effect-key.ts';
import { processOnceIn } from '../../shared/inbox/process-once.ts';
import type { Receipt } from '../../shared/inbox/receipt.ts';
import { beginEffect } from '../../shared/queue/begin-effect.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { settleEffect } from '../../shared/queue/settle-effect.ts';
import { enqueueIn } from '../../shared/transaction/enqueue-in-transaction.ts';
import { claimed, expireLease, newJob } from '../sql/support/lease-core.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startEffects, type Effects } from '../support/effects.ts';
import { DRIVERS, type Driver, type OpenTransaction } from '../transaction/support/drivers.ts';

let db: TestDatabase;
let driver: Driver;
let bank: Effects;
beforeAll(async () => {
  db = await createTestDatabase();
  driver = await (DRIVERS['pg'] ?? expect.unreachable())(db.pgUrl);
  bank = await startEffects();
});
afterAll(async () => {
  await bank.close();
  await driver.close();
  await db.drop();
});

const payment = (): Receipt => ({ consumer: 'payments', event: { id: randomUUID() } });

test('S4.6 an effect outside carries one key over every delivery, and its own for each consumer, sender, event and effect', async () => {
  const receipt = payment();
  const key = await effectKey(receipt);
  expect(key).toMatch(/^[\w-]{43}$/);
  expect(await effectKey({ ...receipt })).toBe(key);
  const others = [
    await effectKey({ ...receipt, consumer: 'mails' }),
    await effectKey({ ...receipt, sender: 'shop' }),
    await effectKey({ ...receipt, event: { id: randomUUID() } }),
    await effectKey(receipt, 'receipt'),
    // The parts do not run together.
    await effectKey({ consumer: 'payments', sender: receipt.event.id, event: { id: '' } }),
  ];
  expect(new Set([key, ...others]).size).toBe(6);
});

test('S4.6 a consumer that dies between the effect and its commit repeats the effect under the same key', async () => {
  const receipt = payment();
  const pay = (died: boolean) =>
    driver.transact(({ transaction }) =>
      processOnceIn(transaction, receipt, async () => {
        const headers = { 'idempotency-key': await effectKey(receipt) };
        await fetch(bank.url, { method: 'POST', headers });
        if (died) throw new Error('killed');
      }),
    );
  await expect(pay(true)).rejects.toThrow('killed');
  expect(await pay(false)).toMatchObject({ outcome: 'applied' });
  expect(await pay(false)).toEqual({ outcome: 'duplicate' });
  const key = await effectKey(receipt);
  expect(bank.keys).toEqual([key, key]); // the bank takes one
});

test('S4.6 a durable job committed with the record of the event: once, uncertain after a crash, then reconciled', async () => {
  const receipt = payment();
  const deliver = () =>
    driver.transact(({ transaction }: OpenTransaction) =>
      processOnceIn(transaction, receipt, async () => {
        const job = newJob({ id: uuidv7(), queue: 'charges', type: 'charge' });
        return await enqueueIn(transaction, [job], { actor: 'payments' });
      }),
    );
  const first = await deliver();
  expect(first).toMatchObject({ outcome: 'applied', value: [{ outcome: 'created' }] });
  expect(await deliver()).toEqual({ outcome: 'duplicate' });

  const attempt = await claimed(db.sql, 'charges', 'worker-a');
  expect(await beginEffect(db.sql, { ...attempt, key: 'charge' })).toEqual({ outcome: 'run' });
  await expireLease(db.pool, attempt.jobId); // it died there: did the charge go through?
  const next = await claimed(db.sql, 'charges', 'worker-b');
  expect(await beginEffect(db.sql, { ...next, key: 'charge' })).toEqual({ outcome: 'uncertain' });
  const { jobId, fencingToken } = next;
  const found = { state: 'done', result: { id: 'ch_1' }, actor: 'worker-b' } as const;
  expect(await settleEffect(db.sql, { jobId, fencingToken, key: 'charge', ...found })).toBe(
    'settled',
  );
  expect((await getJob(db.sql, { jobId }))?.effects).toMatchObject([{ state: 'done' }]);
});
