import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

export interface LocalSecrets {
  /** Signs bearer tokens (HS256). */
  readonly authSecret: string;
  /** Signs pokes (Standard Webhooks). */
  readonly pokeSecret: string;
}

const SECRET_BYTES = 32;

/** The secrets of this checkout, made at the first call and kept with mode 600, so that a token outlives a restart. */
export function localSecrets(file: string): LocalSecrets {
  if (existsSync(file)) {
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Partial<LocalSecrets>;
    const { authSecret, pokeSecret } = kept;
    if (authSecret !== undefined && pokeSecret !== undefined) return { authSecret, pokeSecret };
  }
  const made: LocalSecrets = {
    authSecret: randomBytes(SECRET_BYTES).toString('base64url'),
    pokeSecret: `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`,
  };
  writeFileSync(file, JSON.stringify(made, null, 2), { mode: 0o600 });
  return made;
}
