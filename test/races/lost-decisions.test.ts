import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Fault } from '../../infra/local/sql-endpoint/faults.ts';
import { claimEscalated } from '../../shared/queue/claim-escalated.ts';
import { escalate } from '../../shared/queue/escalate.ts';
import { settleEscalated, type Decision } from '../../shared/queue/settle-escalated.ts';
import { escalated, escalating, held } from '../sql/support/escalated.ts';
import { added, claimed, eventTypes, snapshot } from '../sql/support/lease-core.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createHttpSql, type HttpSql } from '../support/http-sql.ts';

let db: TestDatabase;
let http: HttpSql;
beforeAll(async () => {
  db = await createTestDatabase();
  http = await createHttpSql(db);
});
afterAll(async () => {
  await http.close();
  await db.drop();
});

/** After each of these the caller cannot know whether its write was committed. */
const FAULTS: readonly Fault[] = [{ kind: 'drop_after_commit' }, { kind: 'drop_before' }];

describe.each(FAULTS)('B.3 the answer is lost ($kind)', (fault) => {
  const queue = `decided ${fault.kind}`;
  const lose = async (routine: string): Promise<void> => {
    const { fired } = http.endpoint.faults.next(fault, {
      match: new RegExp(`leasehold\\.${routine}\\(`),
    });
    await fired;
  };

  test('a question: asked once', async () => {
    const jobId = await added(db.sql, { queue: `${queue} asks` });
    const job = await claimed(db.sql, `${queue} asks`);
    const hit = lose('escalate');
    expect((await escalate(http.sql, { ...job, question: 'Which one?' })).outcome).toBe(
      'escalated',
    );
    await hit;
    expect(await eventTypes(db.pool, jobId)).toEqual(['created', 'claimed', 'escalated']);
  });

  test('a person takes a job: one hold', async () => {
    const own = `${queue} takes`;
    await escalating(db, own);
    const jobId = await escalated(db, { queue: own });
    const other = await escalated(db, { queue: own });
    const hit = lose('claim_escalated');
    const job = await claimEscalated(http.sql, { owner: 'maria', claimId: uuidv7(), queue: own });
    await hit;
    expect(job).toMatchObject({ jobId, fencingToken: '2' });
    expect((await held(db, other, 'tom')).jobId).toBe(other);
  });

  test.each([
    [{ action: 'complete', result: 1 }, 'succeeded'],
    [{ action: 'send_back', note: 'n' }, 'pending'],
    [{ action: 'discard', reason: 'r' }, 'cancelled'],
    [{ action: 'release' }, 'escalated'],
  ] as const)('a decision is carried out once: %j', async (decision: Decision, outcome) => {
    const own = `${queue} ${decision.action}`;
    await escalating(db, own);
    const jobId = await escalated(db, { queue: own });
    const { owner, fencingToken } = await held(db, jobId);
    const said = { jobId, owner, fencingToken, ...decision };
    const hit = lose('settle_escalated');
    const first = await settleEscalated(http.sql, said);
    await hit;
    expect(first.outcome).toBe(outcome);
    const after = await snapshot(db.pool, jobId);
    expect(await settleEscalated(http.sql, said)).toEqual(first);
    expect(await snapshot(db.pool, jobId)).toBe(after);
  });
});

describe('S2.4 two decisions at once', () => {
  test('one of them counts, the other hears that the hold is over', async () => {
    await escalating(db, 'both');
    for (let round = 0; round < 20; round += 1) {
      const jobId = await escalated(db, { queue: 'both' });
      const { owner, fencingToken } = await held(db, jobId);
      const lease = { jobId, owner, fencingToken };
      const outcomes = await Promise.all([
        settleEscalated(db.sql, { ...lease, action: 'complete' }),
        settleEscalated(db.sql, { ...lease, action: 'discard', reason: 'r' }),
      ]);
      const lost = outcomes.filter(({ outcome }) => outcome === 'lease_lost');
      expect(lost).toHaveLength(1);
      const types = await eventTypes(db.pool, jobId);
      expect(types.filter((type) => type === 'completed' || type === 'discarded')).toHaveLength(1);
    }
  });
});
