import pg from 'pg';

/** The seventeen keys of an error answer, in the proxy's order. Only `message` and `code` are always text. */
export interface ErrorBody {
  readonly message: string;
  /** SQLSTATE, or the empty string when the fault is not one that Postgres named. */
  readonly code: string;
  readonly detail: string | null;
  readonly hint: string | null;
  readonly position: string | null;
  readonly internalPosition: string | null;
  readonly internalQuery: string | null;
  readonly severity: string;
  readonly where: string | null;
  readonly table: string | null;
  readonly column: string | null;
  readonly schema: string | null;
  readonly dataType: string | null;
  readonly constraint: string | null;
  readonly file: string | null;
  readonly line: string | null;
  readonly routine: string | null;
}

/** A failure with the HTTP status and the JSON body that answer it. */
export class EndpointError extends Error {
  override readonly name = 'EndpointError';
  readonly status: number;
  readonly body: ErrorBody;

  constructor(status: number, body: ErrorBody) {
    super(body.message);
    this.status = status;
    this.body = body;
  }
}

/** A fault that Postgres did not name: `code` and `severity` are empty strings, as at Neon. */
export function uncodedError(status: number, message: string): EndpointError {
  return new EndpointError(status, { ...NO_FIELDS, message });
}

/** A failed statement. Everything here is 400, even a connection that broke halfway: that one has no code. */
export function statementError(error: unknown): EndpointError {
  if (error instanceof EndpointError) return error;
  if (error instanceof pg.DatabaseError) return new EndpointError(400, postgresFields(error));
  const message = error instanceof Error ? error.message : 'unknown error';
  return uncodedError(400, `error communicating with the server: ${message}`);
}

/**
 * A connection that could not be opened. A wrong password loses its SQLSTATE (Neon's proxy checks it itself), a
 * missing database keeps it, and all that is not the user's fault is 500.
 */
export function connectError(error: unknown, user: string): EndpointError {
  if (!(error instanceof pg.DatabaseError)) {
    const message = error instanceof Error ? error.message : 'unknown error';
    return message.startsWith('timeout exceeded')
      ? uncodedError(
          500,
          'Failed to acquire permit to connect to the database. Too many database connection attempts are currently ongoing.',
        )
      : uncodedError(500, `Couldn't connect to compute node: ${message}`);
  }
  if (error.code === '28P01' || error.code === '28000') {
    return uncodedError(400, `password authentication failed for user '${user}'`);
  }
  return new EndpointError(error.code === '3D000' ? 400 : 500, postgresFields(error));
}

/** What the fault switch answers in Postgres's place. */
export function madeUpSqlError(code: string, message: string): EndpointError {
  return new EndpointError(400, { ...NO_FIELDS, code, message, severity: 'ERROR' });
}

const NO_FIELDS: ErrorBody = {
  message: '',
  code: '',
  detail: null,
  hint: null,
  position: null,
  internalPosition: null,
  internalQuery: null,
  severity: '',
  where: null,
  table: null,
  column: null,
  schema: null,
  dataType: null,
  constraint: null,
  file: null,
  line: null,
  routine: null,
};

function postgresFields(error: pg.DatabaseError): ErrorBody {
  return {
    message: error.message,
    code: error.code ?? '',
    detail: error.detail ?? null,
    hint: error.hint ?? null,
    position: error.position ?? null,
    internalPosition: error.internalPosition ?? null,
    internalQuery: error.internalQuery ?? null,
    severity: error.severity ?? '',
    where: error.where ?? null,
    table: error.table ?? null,
    column: error.column ?? null,
    schema: error.schema ?? null,
    dataType: error.dataType ?? null,
    constraint: error.constraint ?? null,
    file: error.file ?? null,
    line: error.line ?? null,
    routine: error.routine ?? null,
  };
}
