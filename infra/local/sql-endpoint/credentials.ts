import { uncodedError } from './error-response.ts';

/** Who connects to what. Host and port in the header are not used: the endpoint has one upstream. */
export interface Credentials {
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/**
 * Reads the `Neon-Connection-String` header.
 *
 * Neon finds the database by the first label of the header's host and refuses an IP address there. This endpoint
 * stands for one Postgres, so it takes any host, 127.0.0.1 and [::1] among them, and looks only at user, password and
 * database. Other parts (`?options=`, `?sslmode=`) are not passed on: a transaction pooler would refuse them.
 * No error text repeats the header: it holds a password.
 */
export function readCredentials(header: string | string[] | undefined): Credentials {
  if (typeof header !== 'string') throw uncodedError(400, 'invalid header: neon-connection-string');
  let url: URL;
  try {
    url = new URL(header);
  } catch {
    throw uncodedError(400, 'invalid connection string');
  }
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:') {
    throw uncodedError(400, 'incorrect scheme');
  }
  const database = decode(url.pathname.slice(1), 'invalid database name');
  if (database === '') throw uncodedError(400, 'missing database name');
  if (database.includes('/')) throw uncodedError(400, 'invalid database name');
  const user = decode(url.username, 'invalid username');
  if (user === '') throw uncodedError(400, 'missing username');
  const password = decode(url.password, 'invalid password');
  if (password === '') {
    throw uncodedError(400, 'missing authentication credentials: required password');
  }
  return { user, password, database };
}

function decode(text: string, message: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw uncodedError(400, message);
  }
}
