/**
 * The relay's process is killed with SIGKILL at each boundary, and another process carries on. Real workerd, the deployed
 * bundle, real Postgres, and a receiver in a process of its own that checks every signature.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { appendRounds, clearOutbox, expireShards, publishedIds } from '../outbox/support/outbox.ts';
import { PUSH_KEY } from '../push/support/scripted-push.ts';
import { startReceiver, type Receiver } from '../push/support/receiver.ts';
import { createDeployment, type DeployedWorker, type Deployment } from '../support/deployment.ts';

/** Longer than any test: the statement is held until the process that sent it is dead. */
const HELD_MS = 60_000;

let deployment: Deployment;
let receiver: Receiver;

beforeAll(async () => {
  deployment = await createDeployment();
  receiver = await startReceiver([PUSH_KEY]);
});
beforeEach(async () => {
  await clearOutbox(deployment.database.pool);
  receiver.received.length = 0;
  await receiver.answer({ status: 200 });
});
afterEach(() => deployment.endpoint.faults.clear());
afterAll(async () => {
  await deployment.close();
  await receiver.close();
});

const start = (): Promise<DeployedWorker> =>
  deployment.start({
    OUTBOX_TARGET_URL: receiver.url('/events'),
    OUTBOX_SECRETS: PUSH_KEY,
    PUSH_ALLOW_HTTP: 'on',
  });

/** Ids as they came, repeats among them. */
const received = (): string[] =>
  receiver.received.map(({ headers }) => String(headers['webhook-id']));

/** Appends three events to one aggregate, and lets a Worker relay them. */
async function relayed(): Promise<{ readonly ids: string[]; readonly worker: DeployedWorker }> {
  const rounds = await appendRounds(deployment.database.sql, ['42'], 3);
  const worker = await start();
  void worker.runCron().catch(() => undefined); // killed on the way
  return { ids: rounds.get('42') ?? [], worker };
}

/** What the next process does once the lease of the dead one has run out. */
async function survivors(): Promise<void> {
  const other = await start();
  await other.runCron();
  await expireShards(deployment.database.pool);
  await other.runCron();
}

async function everythingIsOut(ids: readonly string[]): Promise<void> {
  expect(await publishedIds(deployment.database.pool)).toEqual(ids);
  // Repeats aside, in the order of the versions, and all signed.
  expect([...new Set(received())]).toEqual(ids);
  const verdicts = receiver.received.flatMap((one) => one.verdicts);
  expect(new Set(verdicts)).toEqual(new Set(['verified']));
}

describe('S4.3 the relay is killed with SIGKILL', () => {
  test('S4.3 before it publishes: nothing went out, and everything does', async () => {
    const { faults } = deployment.endpoint;
    faults.next({ kind: 'drop_after_commit' }, { match: /leasehold\.claim_events/ });
    const repeat = faults.next(
      { kind: 'delay', ms: HELD_MS },
      { match: /leasehold\.claim_events/ },
    );
    const { ids, worker } = await relayed();
    await repeat.fired;
    await worker.kill();
    expect(received()).toEqual([]);
    await survivors();
    expect(received()).toEqual(ids);
    await everythingIsOut(ids);
  });

  test('S4.3 after it published, before the acknowledgement: that event comes again, with its id', async () => {
    await receiver.answer({ status: 200, hang: true });
    const { ids, worker } = await relayed();
    await expect.poll(received).toHaveLength(1);
    await worker.kill();
    await receiver.answer({ status: 200 });
    await survivors();
    expect(received()).toEqual([ids[0], ...ids]);
    await everythingIsOut(ids);
  });

  test('S4.3 after the acknowledgement, before the mark: the batch comes again, with its ids', async () => {
    const mark = deployment.endpoint.faults.next(
      { kind: 'delay', ms: HELD_MS },
      { match: /leasehold\.settle_events/ },
    );
    const { ids, worker } = await relayed();
    await mark.fired;
    await worker.kill();
    expect(received()).toEqual(ids);
    await survivors();
    expect(received()).toEqual([...ids, ...ids]);
    await everythingIsOut(ids);
  });

  test('S4.3 during the mark, which commits: nothing comes again', async () => {
    const { faults } = deployment.endpoint;
    faults.next({ kind: 'drop_after_commit' }, { match: /leasehold\.settle_events/ });
    const repeat = faults.next(
      { kind: 'delay', ms: HELD_MS },
      { match: /leasehold\.settle_events/ },
    );
    const { ids, worker } = await relayed();
    await repeat.fired;
    await worker.kill();
    await survivors();
    expect(received()).toEqual(ids);
    await everythingIsOut(ids);
  });

  test('S4.3 during the mark, while its statement runs: each is marked once', async () => {
    const blocker = await deployment.database.pool.connect();
    try {
      await blocker.query('begin');
      await appendRounds(deployment.database.sql, ['42'], 3);
      const worker = await start();
      await blocker.query('select from leasehold.outbox_pending for key share');
      void worker.runCron().catch(() => undefined);
      await expect
        .poll(async () => {
          const { rows } = await deployment.database.pool.query(
            `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%settle_events%'
               and datname = current_database()`,
          );
          return rows.length;
        })
        .toBe(1);
      await worker.kill();
      await blocker.query('rollback');
    } finally {
      blocker.release();
    }
    await survivors();
    const ids = await publishedIds(deployment.database.pool);
    expect(ids).toHaveLength(3);
    expect(received().length).toBeLessThanOrEqual(6);
    await everythingIsOut(ids);
  });
});
