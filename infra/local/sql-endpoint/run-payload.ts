import type pg from 'pg';
import type { Upstream } from './cancel.ts';
import { statementError } from './error-response.ts';
import {
  beginStatement,
  type OutputMode,
  type Payload,
  type Statement,
  type TransactionMode,
} from './request.ts';
import {
  ClientGoneError,
  newResponseBudget,
  runStatement,
  type RunContext,
} from './run-statement.ts';
import { giveBack } from './session.ts';

export interface PayloadRun {
  readonly client: pg.PoolClient;
  readonly upstream: Upstream;
  readonly output: OutputMode;
  readonly transaction: TransactionMode;
  readonly gone: AbortSignal;
}

/**
 * Runs the payload and returns the response body. When the promise settles, the session is clean and back in its pool
 * (the proxy cleans it afterwards; doing it first makes "session state does not survive" certain instead of likely).
 */
export async function runPayload(payload: Payload, run: PayloadRun): Promise<string> {
  const context: RunContext = { ...run, budget: newResponseBudget() };
  let reusable = true;
  try {
    return payload.kind === 'single'
      ? await runStatement(payload.statement, context)
      : await runBatch(payload.statements, run.transaction, context);
  } catch (error) {
    // After a cancel the connection may still have the cancel coming; after a broken one there is nothing to keep.
    reusable = !(error instanceof ClientGoneError);
    throw error;
  } finally {
    await giveBack(run.client, reusable);
  }
}

/**
 * One transaction. The first error rolls it back, and so does a client that goes away before `commit` is sent; from
 * there on the commit is awaited whatever the client does, so an abort near the end may find everything committed.
 */
async function runBatch(
  statements: readonly Statement[],
  mode: TransactionMode,
  context: RunContext,
): Promise<string> {
  const { client } = context;
  const results: string[] = [];
  await command(client, beginStatement(mode));
  try {
    for (const statement of statements) results.push(await runStatement(statement, context));
    if (context.gone.aborted) throw new ClientGoneError();
  } catch (error) {
    // When the client is gone the connection is closed, and that rolls back by itself.
    if (!(error instanceof ClientGoneError)) await client.query('rollback').catch(() => undefined);
    throw error;
  }
  await command(client, 'commit');
  return `{"results":[${results.join(',')}]}`;
}

async function command(client: pg.PoolClient, text: string): Promise<void> {
  try {
    await client.query(text);
  } catch (error) {
    throw statementError(error);
  }
}
