import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { uuidv7 } from 'uuidv7';
import type { LeaseholdClient } from '../../../shared/client/client.ts';
import { claimEscalated } from '../../../shared/queue/claim-escalated.ts';
import { settleEscalated } from '../../../shared/queue/settle-escalated.ts';
import { createPgSql } from '../../support/pg-sql.ts';
import type { Ledger } from './ledger.ts';
import type { Library } from './previous-release.ts';
import { codeOf, messageOf, SQL_QUEUE, untilKept } from './produce.ts';
import type { Receiver } from './receiver.ts';

const IDLE_MS = 100;
const LOOK_AGAIN_MS = 500;

/** What an agent may log: how jobs end that cannot be done. */
const EXPECTED = ['job_failed', 'job_dead', 'job_escalated'];

/** Agents of a release's own client; they stop at the first of the signals. */
export async function pullJobs(options: {
  readonly work: Library['work'];
  readonly client: LeaseholdClient;
  readonly queue: string;
  readonly handler: (job: { readonly id: string }) => void;
  readonly ledger: Ledger;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { work, client, queue, handler, ledger, signal } = options;
  const note = (event: string, fields: object = {}): void => {
    if (event === 'claim_next_refused' && ledger.exchanging) ledger.retry(event);
    else if (!EXPECTED.includes(event)) {
      ledger.fault(
        `${ledger.phase}: an agent of ${queue} logged ${event} ${JSON.stringify(fields)}`,
      );
    }
  };
  while (!signal.aborted) {
    try {
      await work(client, queue, handler, {
        signal,
        concurrency: 2,
        waitSeconds: 1,
        graceMs: 2000,
        log: { info: () => undefined, warn: note, error: note },
      });
    } catch (error) {
      ledger.fault(`an agent gave up with ${codeOf(error)}: ${messageOf(error)}`);
      await pause(LOOK_AGAIN_MS);
    }
  }
}

/** Claims and completes by statements that were prepared before the upgrade. */
export async function pullPrepared(
  pool: pg.Pool,
  ledger: Ledger,
  receiver: Receiver,
  signal: AbortSignal,
): Promise<void> {
  const client = await pool.connect();
  try {
    while (!signal.aborted) {
      const claimId = uuidv7();
      let taken: { job_id: string; fencing_token: string } | undefined;
      await untilKept(ledger, 'claim in SQL', async () => {
        const { rows } = await client.query<{ job_id: string; fencing_token: string }>({
          name: 'take',
          text: `select job_id, fencing_token from leasehold.claim($1::text, 'script', $2::uuid, 60)`,
          values: [SQL_QUEUE, claimId],
        });
        [taken] = rows;
      });
      const job = taken;
      if (job === undefined) {
        await pause(IDLE_MS);
        continue;
      }
      receiver.record(job.job_id);
      await untilKept(ledger, 'complete in SQL', async () => {
        await client.query({
          name: 'done',
          text: `select outcome from leasehold.complete($1::uuid, 'script', $2::bigint, '{}')`,
          values: [job.job_id, job.fencing_token],
        });
      });
    }
  } finally {
    client.release();
  }
}

/** A person, once the schema knows them: completes whatever has escalated. */
export async function helpOut(pool: pg.Pool, signal: AbortSignal): Promise<void> {
  const sql = createPgSql(pool);
  const owner = 'maria';
  while (!signal.aborted) {
    const held = await claimEscalated(sql, { owner, claimId: uuidv7() });
    if (held === undefined) {
      await pause(IDLE_MS);
      continue;
    }
    const { jobId, fencingToken } = held;
    await settleEscalated(sql, { jobId, owner, fencingToken, action: 'complete', note: 'Done.' });
  }
}

/** Reads what a board of the old release reads, through any Worker: each answer has to be one that it understands. */
export async function readAround(
  client: LeaseholdClient,
  ledger: Ledger,
  recent: () => Iterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const reads: Readonly<Record<string, () => Promise<unknown>>> = {
    'single jobs': async () => {
      for (const id of recent()) await client.getJob(id);
    },
    jobs: () => client.listJobs({ limit: 20 }),
    queues: () => client.queues.list(),
    'dead letters': () => client.deadLetters.list({ limit: 20 }),
    schedules: () => client.schedules.list(),
    'outbox events': () => client.outbox.list({ limit: 20 }),
  };
  while (!signal.aborted) {
    for (const [name, read] of Object.entries(reads)) {
      try {
        await ledger.timed('a read over HTTP', read);
      } catch (error) {
        ledger.fault(
          `${ledger.phase}: reading ${name} failed with ${codeOf(error)}: ${messageOf(error)}`,
        );
      }
    }
    await pause(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
  }
}
