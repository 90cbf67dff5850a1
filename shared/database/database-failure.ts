import { classifyError, type FailureContext, type FailureKind } from './classify-error.ts';

export interface FailureDetails extends FailureContext {
  /** `neon-request-id` of the answer: what Neon's support asks for. */
  readonly requestId?: string | undefined;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
}

/**
 * One failed try, made safe: a new error with its own stack, the redacted message of what the driver threw and the
 * harmless ones of its fields. The driver's error itself is not kept, since its message, its stack or the error inside
 * it may repeat the connection string; nor are `detail`, `hint` and `where`, which may repeat the values of a row.
 */
export class DatabaseFailure extends Error {
  override readonly name = 'DatabaseFailure';
  readonly kind: FailureKind;
  readonly sqlState: string | undefined;
  readonly httpStatus: number | undefined;
  readonly requestId: string | undefined;
  readonly constraint: string | undefined;
  readonly table: string | undefined;
  readonly routine: string | undefined;

  constructor(thrown: unknown, details: FailureDetails) {
    super(details.redact(messageOf(thrown)));
    const { kind, sqlState } = classifyError(thrown, details);
    this.kind = kind;
    this.sqlState = sqlState;
    this.httpStatus = details.httpStatus;
    this.requestId = details.requestId;
    this.constraint = textField(thrown, 'constraint');
    this.table = textField(thrown, 'table');
    this.routine = textField(thrown, 'routine');
  }
}

function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'the driver threw something that is not an error';
  // What `fetch` says about a connection lies one level down: "fetch failed" means nothing alone.
  const source: unknown = Reflect.get(thrown, 'sourceError');
  const inner = source ?? thrown;
  const cause = inner instanceof Error && inner.cause instanceof Error ? inner.cause.message : '';
  return cause === '' ? thrown.message : `${thrown.message} (${cause})`;
}

function textField(thrown: unknown, name: string): string | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  const value: unknown = Reflect.get(thrown, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
