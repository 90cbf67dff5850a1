import { LeaseholdError } from '../errors.ts';
import type { EnqueuedJob } from '../queue/enqueued-job.ts';
import { newJobsAsJson, PRIORITIES, type NewJob } from '../queue/new-job.ts';
import { resultRows, type ResultRow } from './result-rows.ts';
import type { Statement, Transaction } from './statement.ts';

export interface Producer {
  /** Who adds the jobs, for the log; 1 to 200 characters. */
  readonly actor: string;
}

/**
 * Adds 1 to 1,000 jobs in the caller's own transaction: they exist if it commits, and never did if it does not. Nobody
 * sees them before the commit, so poke after it (`pokesAfterCommit`).
 *
 * @throws what the driver throws, and the transaction is then aborted; its SQLSTATE is LH001 when a job breaks a rule,
 * LH002 when an id belongs to another job, and the message names the job and the rule.
 * @example await enqueueIn(pgTransaction(client), [{ id, queue: 'emails', type: 'email.send', payload: { to } }], { actor: 'shop' });
 */
export async function enqueueIn(
  transaction: Transaction,
  jobs: readonly NewJob[],
  producer: Producer,
): Promise<EnqueuedJob[]> {
  return readEnqueued(await transaction.run(enqueueStatement(jobs, producer)));
}

/**
 * The statement alone, for a library without an adapter. Run it on the connection that has your transaction open, and
 * give what comes back to `readEnqueued`.
 *
 * @example const { text, values } = enqueueStatement([job], { actor: 'shop' });
 */
export function enqueueStatement(jobs: readonly NewJob[], producer: Producer): Statement {
  return {
    text: `select ${COLUMNS.join(', ')} from leasehold.enqueue_batch($1::text::jsonb, $2::text)`,
    values: [newJobsAsJson(jobs), producer.actor],
  };
}

/**
 * Reads the answer to `enqueueStatement`, in the order of the jobs.
 *
 * @param result the driver's rows, or its object with `rows`
 * @throws {LeaseholdError} `database_error` when it is another statement's answer
 */
export function readEnqueued(result: unknown): EnqueuedJob[] {
  return resultRows(result, COLUMNS).map((row) => ({
    jobId: row.text('job_id'),
    outcome: oneOf(row, 'outcome', ['created', 'exists', 'duplicate']),
    queue: row.text('queue'),
    type: row.text('type'),
    priority: oneOf(row, 'priority', PRIORITIES),
    maxAttempts: row.integer('max_attempts'),
    dueAt: row.time('due_at'),
    createdAt: row.time('created_at'),
  }));
}

const COLUMNS = [
  'job_id',
  'outcome',
  'queue',
  'type',
  'priority',
  'max_attempts',
  'due_at',
  'created_at',
];

function oneOf<Word extends string>(row: ResultRow, column: string, words: readonly Word[]): Word {
  const text = row.text(column);
  const word = words.find((known) => known === text);
  if (word === undefined) {
    throw new LeaseholdError('database_error', `The database gave an unknown ${column}.`);
  }
  return word;
}
