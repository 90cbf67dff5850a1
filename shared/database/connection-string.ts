import { LeaseholdError, type FieldProblem } from '../errors.ts';

/** The parts of a connection string that may be shown. */
export interface ConnectionTarget {
  readonly user: string;
  /** As in the URL: an IPv6 address keeps its brackets. */
  readonly host: string;
  /** Empty when the string names none. */
  readonly port: string;
  readonly database: string;
}

/**
 * Checks a `postgres://` connection string and returns its harmless parts.
 *
 * The driver itself notices a bad string only when the first query runs, and then repeats it whole, password and all,
 * in the error's message; the URL parser keeps its input on the error too. So it is checked here first, and what is
 * thrown holds neither the string nor a cause.
 *
 * @throws {LeaseholdError} `config_invalid`, all faults together.
 * @example parseConnectionString('postgres://app:secret@ep-x.eu.aws.neon.tech/jobs').database // 'jobs'
 */
export function parseConnectionString(text: string): ConnectionTarget {
  const scheme = /^postgres(?:ql)?:(?=\/\/)/.exec(text)?.[0];
  if (scheme === undefined) throw invalid(['does not start with postgres:// or postgresql://']);
  // As the driver does it: parsed as http, so that percent-encoding follows the rules of ordinary URLs.
  const url = URL.parse(`http:${text.slice(scheme.length)}`);
  if (url === null) throw invalid(['is not a valid URL; special characters must be %-encoded']);
  const user = decoded(url.username);
  const password = decoded(url.password);
  const database = decoded(url.pathname.slice(1));
  const faults = [
    ...faultOf('user', user),
    ...faultOf('password', password),
    ...faultOf('database', database),
    ...(database?.includes('/') ? ['names more than a database after the host'] : []),
    ...(/\s/.test(text) ? ['contains white space'] : []),
  ];
  if (faults.length > 0) throw invalid(faults);
  return { user: user ?? '', host: url.hostname, port: url.port, database: database ?? '' };
}

function faultOf(part: string, value: string | undefined): string[] {
  if (value === undefined) return [`has bad %-encoding in its ${part}`];
  return value === '' ? [`names no ${part}`] : [];
}

/** `undefined` when the percent-encoding is broken: the error of the decoder is dropped on purpose. */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

function invalid(faults: readonly string[]): LeaseholdError {
  const problems: FieldProblem[] = faults.map((message) => ({ path: 'DATABASE_URL', message }));
  return new LeaseholdError('config_invalid', `DATABASE_URL ${faults.join('; ')}.`, { problems });
}
