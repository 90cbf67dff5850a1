import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

export interface LocalSecrets {
  /** Signs bearer tokens (HS256). */
  readonly authSecret: string;
  /** Signs pokes (Standard Webhooks). */
  readonly pokeSecret: string;
  /** Signs pushed jobs (Standard Webhooks). */
  readonly pushSecret: string;
}

const SECRET_BYTES = 32;

/** The secrets of this checkout, each made when first asked for and kept with mode 600, so that a token outlives a restart. */
export function localSecrets(file: string): LocalSecrets {
  const kept = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<LocalSecrets>)
    : {};
  const secrets: LocalSecrets = {
    authSecret: kept.authSecret ?? randomBytes(SECRET_BYTES).toString('base64url'),
    pokeSecret: kept.pokeSecret ?? signingKey(),
    pushSecret: kept.pushSecret ?? signingKey(),
  };
  const text = JSON.stringify(secrets, null, 2);
  if (text !== JSON.stringify(kept, null, 2)) writeFileSync(file, text, { mode: 0o600 });
  return secrets;
}

/** A new key that signs by Standard Webhooks. */
export function signingKey(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}
