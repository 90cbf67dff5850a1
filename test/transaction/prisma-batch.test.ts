/** Prisma's other kind of transaction: a list of queries. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { getJob } from '../../shared/queue/get-job.ts';
import { enqueueStatement, readEnqueued } from '../../shared/transaction/enqueue-in-transaction.ts';
import { newJob } from '../sql/support/lease-core.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createNotes, notes } from './support/notes.ts';
import { createPrismaClient, type PrismaClient } from './support/prisma-client.ts';

let db: TestDatabase;
let prisma: PrismaClient;
beforeAll(async () => {
  db = await createTestDatabase();
  prisma = createPrismaClient(db.pgUrl);
  await createNotes(db.pool);
});
beforeEach(() => db.pool.query('truncate notes'));
afterAll(async () => {
  await prisma.$disconnect();
  await db.drop();
});

test('Prisma: a list of queries takes the statement as it is', async () => {
  const job = newJob({ payload: ['1', []] });
  const { text, values } = enqueueStatement([job], { actor: 'shop' });
  const [, rows] = await prisma.$transaction([
    prisma.$executeRawUnsafe('insert into notes (note) values ($1)', 'order'),
    prisma.$queryRawUnsafe(text, ...values),
  ]);
  expect(readEnqueued(rows)).toMatchObject([{ jobId: job.id, outcome: 'created' }]);
  expect(await getJob(db.sql, { jobId: job.id })).toMatchObject({ payload: ['1', []] });
  expect(await notes(db.pool)).toEqual(['order']);
});

test('Prisma: a list of queries rolls back as one', async () => {
  const job = newJob();
  const { text, values } = enqueueStatement([job], { actor: 'shop' });
  const failing = prisma.$transaction([
    prisma.$queryRawUnsafe(text, ...values),
    prisma.$executeRawUnsafe('insert into notes (note) values (null)'),
  ]);
  await expect(failing).rejects.toThrow('null value');
  expect(await getJob(db.sql, { jobId: job.id })).toBeUndefined();
  expect(await notes(db.pool)).toEqual([]);
});
