/** A pool would run the statement on another connection, outside the transaction: the compiler says so. */
import type { Pool as NeonPool } from '@neondatabase/serverless';
import { sql as drizzleTag } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { CompiledQuery, type Kysely } from 'kysely';
import type pg from 'pg';
import type postgres from 'postgres';
import { expect, test } from 'vitest';
import { drizzleTransaction } from '../../shared/transaction/drizzle-transaction.ts';
import { kyselyTransaction } from '../../shared/transaction/kysely-transaction.ts';
import { pgTransaction } from '../../shared/transaction/pg-transaction.ts';
import { postgresTransaction } from '../../shared/transaction/postgres-transaction.ts';
import { prismaTransaction } from '../../shared/transaction/prisma-transaction.ts';
import type { createPrismaClient } from './support/prisma-client.ts';

test('what is no transaction does not compile', () => {
  expect(refusals).toHaveLength(6);
});

const refusals = [
  // @ts-expect-error -- a pool of pg
  (pool: pg.Pool) => pgTransaction(pool),
  // @ts-expect-error -- a pool of Neon's driver
  (pool: NeonPool) => pgTransaction(pool),
  // @ts-expect-error -- the instance itself
  (sql: postgres.Sql) => postgresTransaction(sql),
  // @ts-expect-error -- the database itself
  (db: ReturnType<typeof drizzle>) => drizzleTransaction(db, drizzleTag),
  // @ts-expect-error -- the database itself
  (db: Kysely<unknown>) => kyselyTransaction(db, CompiledQuery),
  // @ts-expect-error -- the client itself
  (prisma: ReturnType<typeof createPrismaClient>) => prismaTransaction(prisma),
];
