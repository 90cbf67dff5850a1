import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { enqueueIn } from '../../shared/transaction/enqueue-in-transaction.ts';
import { postgresTransaction } from '../../shared/transaction/postgres-transaction.ts';
import { newJob } from '../sql/support/lease-core.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createNotes, notes } from './support/notes.ts';

const CLIENTS = 20;

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await createNotes(db.pool);
});
afterAll(() => db.drop());

describe.runIf(inject('pooler') !== undefined)('behind PgBouncer in transaction mode', () => {
  test('case L1 postgres (Postgres.js) adds jobs with prepared statements off', async () => {
    const { host, port } = inject('pooler') ?? { host: '', port: 0 };
    const { user } = inject('cluster');
    const sql = postgres({ host, port, user, database: db.name, prepare: false, max: CLIENTS });
    const rounds = Array.from({ length: CLIENTS * 5 }, (_, round) => `round ${round}`);
    const outcomes = await Promise.all(
      rounds.map((note) =>
        sql.begin(async (tx) => {
          await tx`insert into notes (note) values (${note})`;
          const [job] = await enqueueIn(postgresTransaction(tx), [newJob()], { actor: 'shop' });
          return job?.outcome;
        }),
      ),
    );
    await sql.end();
    expect(new Set(outcomes)).toEqual(new Set(['created']));
    expect((await notes(db.pool)).toSorted()).toEqual(rounds.toSorted());
    const { rows } = await db.pool.query('select count(*)::int as n from leasehold.jobs');
    expect(rows).toEqual([{ n: rounds.length }]);
  });
});
