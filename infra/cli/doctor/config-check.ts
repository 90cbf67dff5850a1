import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';

import { parseConfig } from '../../../shared/config.ts';
import { LeaseholdError } from '../../../shared/errors.ts';
import { usageError } from '../cli.ts';
import type { Terminal } from '../terminal.ts';
import { fail, ok, skipped } from './finding.ts';
import type { Finding } from './finding.ts';

const CHECK = 'config';
/** One of these says that the variables of a deployment are there, and not only those of a person. */
const TELLING = ['POKE_SECRETS', 'AUTH_SECRET', 'JWKS_URL'];

export type Settings = Readonly<Record<string, string | undefined>>;

/**
 * The variables of the deployment: the environment, and over it a file such as `.dev.vars`.
 *
 * @throws {CliError} when the file cannot be read
 */
export function settingsOf({ env, folder }: Terminal, envFile: string | undefined): Settings {
  if (envFile === undefined) return env;
  const path = resolve(folder, envFile);
  try {
    return { ...env, ...parseEnv(readFileSync(path, 'utf8')) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no text';
    throw usageError(`${path} cannot be read (${code}).`);
  }
}

/** Whether the functions would start with these variables. */
export function checkConfig(settings: Settings): readonly Finding[] {
  if (!TELLING.some((name) => settings[name])) {
    return [
      skipped(
        CHECK,
        'the variables of the deployment are not here',
        'To check them, give them: leasehold doctor --env-file .dev.vars',
      ),
    ];
  }
  try {
    parseConfig(settings);
    return [ok(CHECK, 'the functions would start with these variables')];
  } catch (error) {
    if (!(error instanceof LeaseholdError)) throw error;
    return error.problems.map(({ path, message }) =>
      fail(CHECK, `${path} ${message}`, `Set ${path}.`),
    );
  }
}
