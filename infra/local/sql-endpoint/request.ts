import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { uncodedError } from './error-response.ts';
import { MAX_REQUEST_BYTES } from './limits.ts';
import { parameterText } from './parameters.ts';

export interface Statement {
  readonly text: string;
  readonly values: readonly (string | null)[];
  /** Rows as arrays instead of objects; the header's choice when left out. */
  readonly arrayMode: boolean | undefined;
}

export type Payload =
  | { readonly kind: 'single'; readonly statement: Statement }
  | { readonly kind: 'batch'; readonly statements: readonly Statement[] };

export interface OutputMode {
  /** Every cell is Postgres text, for the client to parse by its type's OID. */
  readonly rawText: boolean;
  readonly arrayMode: boolean;
}

export interface TransactionMode {
  readonly isolationLevel: IsolationLevel | undefined;
  readonly readOnly: boolean;
  readonly deferrable: boolean;
}

const ISOLATION_LEVELS = {
  ReadUncommitted: 'read uncommitted',
  ReadCommitted: 'read committed',
  RepeatableRead: 'repeatable read',
  Serializable: 'serializable',
} as const;

export type IsolationLevel = keyof typeof ISOLATION_LEVELS;

/** The statement that opens a batch's transaction. */
export function beginStatement(mode: TransactionMode): string {
  return [
    'begin',
    mode.isolationLevel && `isolation level ${ISOLATION_LEVELS[mode.isolationLevel]}`,
    mode.readOnly && 'read only',
    mode.deferrable && 'deferrable',
  ]
    .filter(Boolean)
    .join(' ');
}

/** A switch in a header is on when its value is exactly `true`. */
export function readOutputMode(headers: IncomingHttpHeaders): OutputMode {
  return {
    rawText: headers['neon-raw-text-output'] === 'true',
    arrayMode: headers['neon-array-mode'] === 'true',
  };
}

export function readTransactionMode(headers: IncomingHttpHeaders): TransactionMode {
  const level = headers['neon-batch-isolation-level'];
  if (level !== undefined && !isIsolationLevel(level)) {
    throw uncodedError(400, 'invalid isolation level');
  }
  return {
    isolationLevel: level,
    readOnly: headers['neon-batch-read-only'] === 'true',
    deferrable: headers['neon-batch-deferrable'] === 'true',
  };
}

function isIsolationLevel(level: string | string[]): level is IsolationLevel {
  return typeof level === 'string' && Object.hasOwn(ISOLATION_LEVELS, level);
}

/**
 * Reads and parses the body. The content type is not looked at: the driver sends none.
 * One over the limit is read to its end and thrown away, so that the client sees the answer and not a broken pipe.
 */
export async function readPayload(request: IncomingMessage): Promise<Payload> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes <= MAX_REQUEST_BYTES) chunks.push(chunk);
  }
  if (bytes > MAX_REQUEST_BYTES) {
    throw uncodedError(413, `request is too large (max is ${MAX_REQUEST_BYTES} bytes)`);
  }
  let body: unknown;
  try {
    body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw unparsable();
  }
  return toPayload(body);
}

function toPayload(body: unknown): Payload {
  if (!isRecord(body)) throw unparsable();
  if (typeof body['query'] === 'string') return { kind: 'single', statement: toStatement(body) };
  if (!Array.isArray(body['queries'])) throw unparsable();
  return { kind: 'batch', statements: body['queries'].map(toStatement) };
}

function toStatement(value: unknown): Statement {
  if (!isRecord(value) || typeof value['query'] !== 'string') throw unparsable();
  const params = value['params'] ?? [];
  const arrayMode = value['arrayMode'] ?? undefined;
  if (!Array.isArray(params)) throw unparsable();
  if (arrayMode !== undefined && typeof arrayMode !== 'boolean') throw unparsable();
  return { text: value['query'], values: params.map(parameterText), arrayMode };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unparsable(): Error {
  return uncodedError(
    400,
    'could not parse the HTTP request body: data did not match any variant of untagged enum Payload',
  );
}
