import type { Command } from 'commander';

import { SCOPES } from '../../../shared/scopes.ts';
import { localToken } from '../../local/token.ts';
import { DEFAULT_TOKEN_DAYS, MAX_TOKEN_DAYS, checkTokenWishes } from '../../token-arguments.ts';
import { signingSecret } from '../../signing-secret.ts';
import { usageError } from '../cli.ts';
import type { Register } from '../cli.ts';
import { several } from '../option-values.ts';

interface TokenOptions {
  readonly scope?: readonly string[];
  readonly actor?: string;
  readonly queue?: readonly string[];
  readonly days: string;
}

export const tokenCommand: Register = (program, open) => {
  program
    .command('token')
    .description('make a bearer token; it is printed alone')
    .option('--scope <scope>', `${SCOPES.join(', ')}; again for more`, several)
    .option('--actor <name>', 'who the log will say did it')
    .option('--queue <queue>', 'for this queue alone; again for more. Default: all', several)
    .option('--days <n>', `how long it is good, 1 to ${MAX_TOKEN_DAYS}`, String(DEFAULT_TOKEN_DAYS))
    .addHelpText(
      'after',
      `
It is signed here with AUTH_SECRET of the deployment (default: the secret of npm start in this checkout); the service is not
asked. AUTH_ISSUER and AUTH_AUDIENCE are put in when the deployment asks for them.

Example
  leasehold token --scope work --scope read --actor agent-7 --queue emails`,
    )
    .action(async (options: TokenOptions, command: Command) => {
      const cli = open(command);
      const { env } = cli.terminal;
      const wishes = orUsage(() =>
        checkTokenWishes({
          scopes: options.scope ?? [],
          actor: options.actor ?? '',
          queues: options.queue,
          days: options.days,
        }),
      );
      const secret = orUsage(() => signingSecret(env));
      const { scopes, actor, queues, days } = wishes;
      const issuer = env['AUTH_ISSUER'];
      const audience = env['AUTH_AUDIENCE'];
      const token = await localToken(secret, {
        subject: actor,
        scopes,
        queues,
        days,
        issuer,
        audience,
      });
      cli.answer({ token, actor, scopes, queues: queues ?? null, days }, () => `${token}\n`);
    });
};

/** Whatever is wrong there is wrong with the command line or the environment. */
function orUsage<Value>(make: () => Value): Value {
  try {
    return make();
  } catch (error) {
    throw usageError(error instanceof Error ? error.message : String(error));
  }
}
