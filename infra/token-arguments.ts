import { parseArgs } from 'node:util';

import { MAX_OWNER_CHARS, MAX_QUEUE_NAME_CHARS, MAX_TOKEN_QUEUES } from '../shared/limits.ts';
import { QUEUE_NAME_RULE, isValidName, nameRule } from '../shared/names.ts';
import { SCOPES } from '../shared/scopes.ts';
import type { Scope } from '../shared/scopes.ts';

export const DEFAULT_TOKEN_DAYS = 30;
export const MAX_TOKEN_DAYS = 3650;

export const TOKEN_HELP = `Makes a bearer token for the API and prints it, alone, on standard output.

Usage: npm run -s token -- --scope <scope> --actor <name> [options]

Options
  --scope <scope>   ${SCOPES.join(', ')}; more than one: separated by spaces or commas, or the option again
  --actor <name>    who the log will say did it: the subject of the token
  --queue <name>    the token is for this queue alone; again for more, up to ${MAX_TOKEN_QUEUES}. Default: all queues
  --days <days>     how long it is good, 1 to ${MAX_TOKEN_DAYS} (default: ${DEFAULT_TOKEN_DAYS})
  --help            this text

Environment
  AUTH_SECRET       the deployment's secret. Default: the one of npm start in this checkout
  AUTH_ISSUER, AUTH_AUDIENCE   put into the token when the deployment asks for them`;

/** What a token shall say, as it was typed. */
export interface TokenWishes {
  /** Each one scope, or several separated by spaces or commas. */
  readonly scopes: readonly string[];
  readonly actor: string;
  readonly queues: readonly string[] | undefined;
  readonly days: string;
}

/** The same, checked. */
export interface CheckedTokenWishes {
  readonly scopes: readonly Scope[];
  readonly actor: string;
  readonly queues: readonly string[] | undefined;
  readonly days: number;
}

export interface TokenArguments extends CheckedTokenWishes {
  readonly help: boolean;
}

/**
 * Reads the command line of `npm run token`.
 *
 * @throws with a text for the person at the terminal when something is missing, unknown or out of range
 */
export function readTokenArguments(args: readonly string[]): TokenArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      scope: { type: 'string', multiple: true, default: [] },
      actor: { type: 'string', default: '' },
      queue: { type: 'string', multiple: true },
      days: { type: 'string', default: String(DEFAULT_TOKEN_DAYS) },
    },
  });
  if (values.help) {
    return { help: true, scopes: [], actor: '', queues: undefined, days: DEFAULT_TOKEN_DAYS };
  }
  const { scope, actor, queue, days } = values;
  return { help: false, ...checkTokenWishes({ scopes: scope, actor, queues: queue, days }) };
}

/** @throws with a text for the person at the terminal, as above */
export function checkTokenWishes(wishes: TokenWishes): CheckedTokenWishes {
  const { actor, queues } = wishes;
  const scopes = wishes.scopes
    .flatMap((text) => text.split(/[\s,]+/))
    .filter((name) => name !== '');
  if (scopes.length === 0) throw new Error(`Give --scope: ${SCOPES.join(', ')}.`);
  if (!isValidName(actor, MAX_OWNER_CHARS)) {
    throw new Error(`Give --actor: it ${nameRule(MAX_OWNER_CHARS)}.`);
  }
  for (const queue of queues ?? []) {
    if (!isValidName(queue, MAX_QUEUE_NAME_CHARS)) throw new Error(`--queue ${QUEUE_NAME_RULE}.`);
  }
  if ((queues ?? []).length > MAX_TOKEN_QUEUES) {
    throw new Error(`A token is for at most ${MAX_TOKEN_QUEUES} queues.`);
  }
  const days = Number(wishes.days);
  if (!Number.isInteger(days) || days < 1 || days > MAX_TOKEN_DAYS) {
    throw new Error(
      `--days takes a whole number from 1 to ${MAX_TOKEN_DAYS}, not "${wishes.days}".`,
    );
  }
  return { scopes: [...new Set(scopes.map(knownScope))], actor, queues, days };
}

function knownScope(name: string): Scope {
  const scope = SCOPES.find((known) => known === name);
  if (scope === undefined) {
    throw new Error(`"${name}" is no scope; there are ${SCOPES.join(', ')}.`);
  }
  return scope;
}
