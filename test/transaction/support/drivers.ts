import { neonConfig, Pool as NeonPool } from '@neondatabase/serverless';
import { sql as drizzleTag } from 'drizzle-orm';
import { drizzle as drizzleOverNeon } from 'drizzle-orm/neon-serverless';
import { drizzle as drizzleOverPg } from 'drizzle-orm/node-postgres';
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';
import { drizzle as drizzleOverPostgresJs } from 'drizzle-orm/postgres-js';
import { CamelCasePlugin, CompiledQuery, Kysely, PostgresDialect, sql as kyselyTag } from 'kysely';
import pg from 'pg';
import postgres from 'postgres';
import { drizzleTransaction } from '../../../shared/transaction/drizzle-transaction.ts';
import { kyselyTransaction } from '../../../shared/transaction/kysely-transaction.ts';
import { pgTransaction, type PgClient } from '../../../shared/transaction/pg-transaction.ts';
import { postgresTransaction } from '../../../shared/transaction/postgres-transaction.ts';
import { prismaTransaction } from '../../../shared/transaction/prisma-transaction.ts';
import type { Transaction } from '../../../shared/transaction/statement.ts';
import { createPrismaClient } from './prisma-client.ts';
import { startWebSocketProxy } from './websocket-proxy.ts';

/** A library as its user has it: opened on a database, running a callback in one of its own transactions. */
export interface Driver {
  transact<Value>(run: (open: OpenTransaction) => Promise<Value>): Promise<Value>;
  close(): Promise<void>;
}

export interface OpenTransaction {
  /** The adapter under test. */
  readonly transaction: Transaction;
  /** A write of the user's own, in the library's own words: `insert into notes (note) values (…)`. */
  write(note: string): Promise<void>;
}

/** Opens each library on the database of a connection string. */
export const DRIVERS: Readonly<Record<string, (url: string) => Promise<Driver>>> = {
  pg: async (url) => {
    const pool = new pg.Pool({ connectionString: url });
    return {
      transact: (run) => inClient(pool, run),
      close: () => pool.end(),
    };
  },

  postgres: async (url) => {
    const sql = postgres(url);
    return overPostgresJs(sql);
  },

  'postgres with camel-case columns': async (url) =>
    overPostgresJs(postgres(url, { transform: postgres.camel })),

  'Neon over a WebSocket': async (url) => {
    const neon = await neonPool(url);
    return { transact: (run) => inClient(neon.pool, run), close: neon.close };
  },

  'Drizzle over pg': async (url) => {
    const pool = new pg.Pool({ connectionString: url });
    return overDrizzle(drizzleOverPg(pool), () => pool.end());
  },

  'Drizzle over postgres': async (url) => {
    const sql = postgres(url);
    return overDrizzle(drizzleOverPostgresJs(sql), () => sql.end());
  },

  'Drizzle over Neon': async (url) => {
    const neon = await neonPool(url);
    return overDrizzle(drizzleOverNeon(neon.pool), neon.close);
  },

  Kysely: async (url) => overKysely(new Kysely({ dialect: dialectOf(url) })),

  'Kysely with camel-case columns': async (url) =>
    overKysely(new Kysely({ dialect: dialectOf(url), plugins: [new CamelCasePlugin()] })),

  Prisma: async (url) => {
    const prisma = createPrismaClient(url);
    return {
      transact: async (run) =>
        await prisma.$transaction(async (tx) =>
          run({
            transaction: prismaTransaction(tx),
            write: async (note) => {
              await tx.$executeRawUnsafe('insert into notes (note) values ($1)', note);
            },
          }),
        ),
      close: () => prisma.$disconnect(),
    };
  },
};

/** `pg` has no transaction of its own: one sends `begin` and `commit`. */
async function inClient<Value>(
  pool: { connect(): Promise<PgClient & { release(destroy?: boolean): void }> },
  run: (open: OpenTransaction) => Promise<Value>,
): Promise<Value> {
  const client = await pool.connect();
  try {
    await client.query('begin', []);
    const value = await run({
      transaction: pgTransaction(client),
      write: async (note) => {
        await client.query('insert into notes (note) values ($1)', [note]);
      },
    });
    await client.query('commit', []);
    client.release();
    return value;
  } catch (error) {
    client.release(true); // closes the connection, which rolls back
    throw error;
  }
}

function overPostgresJs(sql: postgres.Sql): Driver {
  return {
    transact: async <Value>(run: (open: OpenTransaction) => Promise<Value>) => {
      const value = await sql.begin(async (tx) => [
        await run({
          transaction: postgresTransaction(tx),
          write: async (note) => {
            await tx`insert into notes (note) values (${note})`;
          },
        }),
      ]);
      return value[0] as Value;
    },
    close: () => sql.end(),
  };
}

function overDrizzle(db: PgDatabase<PgQueryResultHKT>, close: () => Promise<void>): Driver {
  return {
    transact: async (run) =>
      await db.transaction(async (tx) =>
        run({
          transaction: drizzleTransaction(tx, drizzleTag),
          write: async (note) => {
            await tx.execute(drizzleTag`insert into notes (note) values (${note})`);
          },
        }),
      ),
    close,
  };
}

function overKysely(db: Kysely<unknown>): Driver {
  return {
    transact: async (run) =>
      await db.transaction().execute(async (trx) =>
        run({
          transaction: kyselyTransaction(trx, CompiledQuery),
          write: async (note) => {
            await kyselyTag`insert into notes (note) values (${note})`.execute(trx);
          },
        }),
      ),
    close: () => db.destroy(),
  };
}

function dialectOf(connectionString: string): PostgresDialect {
  return new PostgresDialect({ pool: new pg.Pool({ connectionString }) });
}

/** Neon's driver finds its proxy by settings of the whole process, so one proxy at a time. */
async function neonPool(url: string): Promise<{ pool: NeonPool; close: () => Promise<void> }> {
  const { hostname, port } = new URL(url);
  const proxy = await startWebSocketProxy({ host: hostname, port: Number(port) });
  neonConfig.wsProxy = () => proxy.address;
  neonConfig.useSecureWebSocket = false;
  neonConfig.pipelineConnect = false; // it would assume a password in clear text
  neonConfig.pipelineTLS = false;
  const pool = new NeonPool({ connectionString: url });
  return {
    pool,
    close: async () => {
      await pool.end();
      await proxy.close();
    },
  };
}
