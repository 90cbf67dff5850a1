import pg from 'pg';
import { cancelRunningStatement, type Upstream } from './cancel.ts';
import { cellJson } from './cell-json.ts';
import { EndpointError, madeUpSqlError, statementError, uncodedError } from './error-response.ts';
import { CANCEL_GRACE_MS, MAX_RESPONSE_BYTES } from './limits.ts';
import type { OutputMode, Statement } from './request.ts';

/** Bytes of rows that one response may still hold; shared by the statements of a batch. */
export interface ResponseBudget {
  bytesLeft: number;
}

export function newResponseBudget(): ResponseBudget {
  return { bytesLeft: MAX_RESPONSE_BYTES };
}

export interface RunContext {
  readonly client: pg.PoolClient;
  readonly upstream: Upstream;
  readonly output: OutputMode;
  readonly budget: ResponseBudget;
  /** Aborts when the HTTP client has gone. */
  readonly gone: AbortSignal;
}

/** The answer to a client that is gone; nobody reads it, and the session is not used again. */
export class ClientGoneError extends EndpointError {
  constructor() {
    super(400, {
      ...madeUpSqlError('08P01', 'Query cancelled, connection was terminated').body,
      severity: '',
    });
  }
}

/**
 * Runs one statement by the extended protocol, unnamed and with untyped text parameters, and returns its result as JSON
 * text. A string with two statements is refused by Postgres (42601).
 *
 * Rows over the budget are read to the end and thrown away, then answered with 507: a single autocommit statement is
 * done by then, which is what a caller meets in production.
 */
export async function runStatement(statement: Statement, context: RunContext): Promise<string> {
  const { client, upstream, gone, budget } = context;
  if (gone.aborted) throw new ClientGoneError();
  const rows: string[] = [];
  const arrayMode = statement.arrayMode ?? context.output.arrayMode;
  const query = new pg.Query<(string | null)[]>({
    text: statement.text,
    values: [...statement.values],
    rowMode: 'array',
    queryMode: 'extended',
    types: AS_TEXT,
  } as pg.QueryConfig);
  query.on('row', (cells, result) => {
    if (budget.bytesLeft < 0) return;
    const row = rowJson(cells, result?.fields ?? [], context.output.rawText, arrayMode);
    budget.bytesLeft -= Buffer.byteLength(row) + 1;
    rows.push(row);
  });
  const done = new Promise<pg.ResultBuilder>((resolve, reject) => {
    query.on('end', resolve);
    query.on('error', reject);
  });
  client.query(query);
  const result = await untilDoneOrGone(done, gone, () => cancelRunningStatement(client, upstream));
  if (budget.bytesLeft < 0) {
    throw uncodedError(507, `response is too large (max is ${MAX_RESPONSE_BYTES} bytes)`);
  }
  return resultJson(result, rows, arrayMode);
}

const AS_TEXT: pg.CustomTypesConfig = { getTypeParser: () => (text: unknown) => text };

/** Waits for the statement; when the client goes first, has it cancelled and gives it a moment to stop. */
async function untilDoneOrGone<Result>(
  done: Promise<Result>,
  gone: AbortSignal,
  cancel: () => Promise<void>,
): Promise<Result> {
  const settled = done.then(
    (value) => ({ kind: 'done', value }) as const,
    (error: unknown) => ({ kind: 'failed', error }) as const,
  );
  let stopListening = (): void => undefined;
  const left = new Promise<{ readonly kind: 'gone' }>((resolve) => {
    const listener = (): void => resolve({ kind: 'gone' });
    gone.addEventListener('abort', listener, { once: true });
    stopListening = () => gone.removeEventListener('abort', listener);
  });
  const first = await Promise.race([settled, left]);
  stopListening();
  if (first.kind === 'done') return first.value;
  if (first.kind === 'failed') throw statementError(first.error);
  await cancel();
  await Promise.race([settled, pause(CANCEL_GRACE_MS)]);
  throw new ClientGoneError();
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref();
  });
}

function rowJson(
  cells: readonly (string | null)[],
  fields: readonly pg.FieldDef[],
  rawText: boolean,
  arrayMode: boolean,
): string {
  const values = cells.map((cell, index) =>
    rawText ? JSON.stringify(cell) : cellJson(cell, fields[index]?.dataTypeID ?? 0),
  );
  if (arrayMode) return `[${values.join(',')}]`;
  return `{${values.map((value, index) => `${JSON.stringify(fields[index]?.name)}:${value}`).join(',')}}`;
}

function resultJson(result: pg.ResultBuilder, rows: readonly string[], arrayMode: boolean): string {
  const fields = (result.fields ?? []).map((field) => ({
    name: field.name,
    dataTypeID: field.dataTypeID,
    tableID: field.tableID,
    columnID: field.columnID,
    dataTypeSize: field.dataTypeSize,
    dataTypeModifier: field.dataTypeModifier,
    format: 'text',
  }));
  const head = JSON.stringify({
    rowAsArray: arrayMode,
    fields,
    command: result.command ?? '',
    rowCount: result.rowCount,
  });
  return `${head.slice(0, -1)},"rows":[${rows.join(',')}]}`;
}
