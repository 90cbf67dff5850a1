/** `npm run token`: makes a bearer token. See `npm run -s token -- --help`. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { MIN_AUTH_SECRET_BYTES } from '../shared/limits.ts';
import { ROOT } from './local/state-folder.ts';
import { localToken } from './local/token.ts';
import { TOKEN_HELP, readTokenArguments } from './token-arguments.ts';

try {
  const { help, scopes, actor, queues, days } = readTokenArguments(process.argv.slice(2));
  if (help) console.log(TOKEN_HELP);
  else {
    const { AUTH_ISSUER: issuer, AUTH_AUDIENCE: audience } = process.env;
    const claims = { subject: actor, scopes, queues, days, issuer, audience };
    console.log(await localToken(secret(), claims));
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}

/** The environment's, or the one that `npm start` made for this checkout. */
function secret(): string {
  const given = process.env['AUTH_SECRET'] || keptSecret();
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
