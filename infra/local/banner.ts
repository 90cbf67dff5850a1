import { uuidv7 } from 'uuidv7';
import type { LocalDatabase } from './local-database.ts';
import type { StateFolder } from './state-folder.ts';

/** A job that a newcomer would try first: rows in, a CSV report out. */
const FIRST_JOB = {
  queue: 'reports',
  type: 'report.csv',
  payload: {
    columns: ['city', 'visits'],
    rows: [
      { city: 'Lisbon', visits: 12 },
      { city: 'Oslo', visits: 7 },
    ],
  },
};

/** What `npm start` prints when it is ready. Each `curl` can be pasted into a shell as it is. */
export function banner(run: {
  readonly url: string;
  readonly token: string;
  readonly tokenDays: number;
  readonly database: LocalDatabase;
  readonly state: StateFolder;
}): string {
  const { url, token, database, state } = run;
  const id = uuidv7();
  const authorization = `-H 'authorization: Bearer ${token}'`;
  const body = JSON.stringify({ id, ...FIRST_JOB });
  return `
Leasehold is ready.

  board     ${url}/board
  API       ${url}
  database  ${database.description}
  /sql      ${database.sqlEndpointUrl ?? 'not needed: Neon is spoken to directly'}
  logs      ${state.workerLog}

A token for ${run.tokenDays} days, for the board and for calls (every scope; a narrower one: npm run -s token -- --help):

  ${token}

Enqueue a job:

  curl -sS ${url}/v1/jobs ${authorization} -H 'content-type: application/json' -d '${body}'

See it done:

  curl -sS ${url}/v1/jobs/${id} ${authorization}

Ctrl-C stops everything; the data stays in ${database.dataFolder ?? 'your database'}
`;
}
