import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { MIN_AUTH_SECRET_BYTES } from '../shared/limits.ts';
import { ROOT } from './local/state-folder.ts';

/**
 * What bearer tokens are signed with: `AUTH_SECRET` of the environment, or the one that `npm start` made for this checkout.
 *
 * @throws with a text for the person at the terminal when there is none, or one that a deployment would refuse
 */
export function signingSecret(env: Readonly<Record<string, string | undefined>>): string {
  const given = env['AUTH_SECRET'] || keptSecret();
  if (given === undefined) {
    throw new Error(
      'There is no secret to sign with: set AUTH_SECRET, or run npm start once, which makes one.',
    );
  }
  if (Buffer.byteLength(given) < MIN_AUTH_SECRET_BYTES) {
    throw new Error(`AUTH_SECRET must be at least ${MIN_AUTH_SECRET_BYTES} bytes.`);
  }
  return given;
}

function keptSecret(): string | undefined {
  const file = join(ROOT, '.leasehold', 'secrets.json');
  if (!existsSync(file)) return undefined;
  const { authSecret } = JSON.parse(readFileSync(file, 'utf8')) as { authSecret?: string };
  return authSecret;
}
