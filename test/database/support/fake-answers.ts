import { createNeonSql, type Fetch } from '../../../shared/database/neon-sql.ts';
import type { LogFields, Sql } from '../../../shared/ports.ts';
import { createVirtualTime, type VirtualTime } from './virtual-time.ts';

export const CONNECTION_STRING = 'postgres://app:s3cr%25t@ep-x.eu-central-1.aws.neon.tech/jobs';

export interface FakeDriver {
  readonly sql: Sql;
  readonly time: VirtualTime;
  /** Requests that reached `fetch`. */
  readonly requests: { readonly url: string; readonly init: RequestInit }[];
  readonly logged: { readonly event: string; readonly fields: LogFields | undefined }[];
}

/** The production driver in virtual time; `answer` stands for the network. Jitter is always at its half. */
export function fakeDriver(
  answer: (request: { readonly init: RequestInit; readonly number: number }) => Promise<Response>,
): FakeDriver {
  const time = createVirtualTime();
  const requests: FakeDriver['requests'] = [];
  const logged: FakeDriver['logged'] = [];
  const record = (event: string, fields?: LogFields): void => void logged.push({ event, fields });
  const fetch: Fetch = (url, init) => {
    requests.push({ url, init });
    return answer({ init, number: requests.length });
  };
  const sql = createNeonSql({
    connectionString: CONNECTION_STRING,
    clock: time.clock,
    timer: time.timer,
    random: { next: () => 0.5 },
    log: { info: record, warn: record, error: record },
    fetch,
  });
  return { sql, time, requests, logged };
}

export function rowsAnswer(rows: readonly (string | null)[][] = []): Response {
  const width = rows[0]?.length ?? 0;
  const fields = Array.from({ length: width }, (_, n) => ({ name: `c${n + 1}`, dataTypeID: 25 }));
  return Response.json({ fields, rows, command: 'SELECT', rowCount: rows.length });
}

export function sqlErrorAnswer(
  code: string,
  message = 'from Postgres',
  fields: object = {},
): Response {
  return Response.json({ message, code, severity: 'ERROR', ...fields }, { status: 400 });
}

/** A 400 as the proxy gives it for a lost connection or a wrong password. */
export function codelessAnswer(message: string): Response {
  return Response.json({ message, code: '', severity: '' }, { status: 400 });
}

/** Never answers; rejects when the request is aborted, as `fetch` does. */
export function hang(init: RequestInit): Promise<Response> {
  return new Promise((_resolve, reject) => {
    init.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
  });
}
