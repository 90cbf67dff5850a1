/** `npm run token`: makes a bearer token. See `npm run -s token -- --help`. */
import { localToken } from './local/token.ts';
import { signingSecret } from './signing-secret.ts';
import { TOKEN_HELP, readTokenArguments } from './token-arguments.ts';

try {
  const { help, scopes, actor, queues, days } = readTokenArguments(process.argv.slice(2));
  if (help) console.log(TOKEN_HELP);
  else {
    const { AUTH_ISSUER: issuer, AUTH_AUDIENCE: audience } = process.env;
    const claims = { subject: actor, scopes, queues, days, issuer, audience };
    console.log(await localToken(signingSecret(process.env), claims));
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}
