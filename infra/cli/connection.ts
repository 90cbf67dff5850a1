import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { SCOPES } from '../../shared/scopes.ts';
import { ROOT } from '../local/state-folder.ts';
import { localToken } from '../local/token.ts';
import { CliError } from './cli-error.ts';
import { EXIT } from './exit-code.ts';
import type { Terminal } from './terminal.ts';

export interface ConnectionOptions {
  readonly url?: string;
  readonly tokenFile?: string;
}

export interface Connection {
  readonly url: string;
  readonly token: () => Promise<string>;
  /** Whether it is `npm start` of this checkout. */
  readonly isLocal: boolean;
}

/** What `npm start` of this checkout left behind. */
interface LocalService {
  readonly url: string;
  readonly authSecret: string;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Where the service is and how to sign in: by option, by `LEASEHOLD_URL` and `LEASEHOLD_TOKEN`, or at `npm start` of this
 * checkout, whose secret makes a token on the spot.
 *
 * @throws {CliError} with what to set
 */
export function connectionOf(terminal: Terminal, options: ConnectionOptions): Connection {
  const { env } = terminal;
  const local = localService();
  const given = options.url ?? (env['LEASEHOLD_URL'] || undefined);
  const url = given === undefined ? local?.url : checkedUrl(given);
  if (url === undefined) {
    throw usage('Set LEASEHOLD_URL to where the service is, or start one here: npm start.');
  }
  const token = givenToken(terminal, options);
  if (token !== undefined) return { url, token: async () => token, isLocal: url === local?.url };
  if (local === undefined || url !== local.url) {
    throw usage(
      'Set LEASEHOLD_TOKEN to a bearer token, or give --token-file. To make one: leasehold token --help',
    );
  }
  const { authSecret } = local;
  const own = { subject: 'local-developer', scopes: SCOPES, days: 1 };
  return { url, token: () => localToken(authSecret, own), isLocal: true };
}

function givenToken(
  { env, folder }: Terminal,
  { tokenFile }: ConnectionOptions,
): string | undefined {
  if (tokenFile === undefined) return env['LEASEHOLD_TOKEN']?.trim() || undefined;
  const path = resolve(folder, tokenFile);
  if (!existsSync(path)) throw usage(`There is no file ${path}.`);
  const token = readFileSync(path, 'utf8').trim();
  if (token === '') throw usage(`${path} is empty; it should hold a bearer token.`);
  return token;
}

/** A token must not travel in the clear. */
function checkedUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw usage('LEASEHOLD_URL must be an https:// URL.');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw usage('LEASEHOLD_URL must have no user, query or fragment.');
  }
  if (url.protocol === 'http:' && !LOOPBACK.has(url.hostname)) {
    throw usage(
      'LEASEHOLD_URL must be an https:// URL: over http:// anybody on the way reads the token.',
    );
  }
  return url.href.replace(/\/+$/, '');
}

/** Undefined unless `npm start` runs, or ran until it was killed. */
function localService(): LocalService | undefined {
  const folder = join(ROOT, '.leasehold');
  const { url } = keptRecord(join(folder, 'running.json'));
  const { authSecret } = keptRecord(join(folder, 'secrets.json'));
  if (typeof url !== 'string' || typeof authSecret !== 'string') return undefined;
  return { url: url.replace(/\/+$/, ''), authSecret };
}

/** Empty for a file that is not there or was cut short by a kill. */
function keptRecord(file: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

function usage(message: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: 'usage' });
}
