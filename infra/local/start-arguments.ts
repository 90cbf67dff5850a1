import { parseArgs } from 'node:util';

/** Taken when it is free; else a free one is chosen. */
const DEFAULT_PORT = 8787;

export const HELP = `Runs Leasehold on this machine: Postgres, the Neon-compatible /sql endpoint, the Worker in workerd and its cron.

Usage: npm start [-- options]

Options
  --demo         enqueue a few hundred jobs with real payloads and show live counts until they are done
  --port <port>  port of the HTTP API (default: ${DEFAULT_PORT}, or a free one when that is taken)
  --help         this text

Environment
  DATABASE_URL   use this database instead of the built-in Postgres. A *.neon.tech host is spoken to directly; any
                 other Postgres through the local /sql endpoint, without TLS. Its schema "leasehold" is migrated.

Data and secrets are kept in .leasehold/; delete that folder to begin anew.`;

export interface StartArguments {
  readonly help: boolean;
  readonly demo: boolean;
  readonly port: { readonly wanted: number; readonly fixed: boolean };
}

/**
 * Reads the command line of `npm start`.
 *
 * @throws with a text for the person at the terminal when an argument is unknown or the port is none.
 */
export function readStartArguments(args: readonly string[]): StartArguments {
  const { values } = parsed({
    args: [...args],
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      demo: { type: 'boolean', default: false },
      port: { type: 'string' },
    },
  });
  const wanted = values.port === undefined ? DEFAULT_PORT : Number(values.port);
  if (!Number.isInteger(wanted) || wanted < 1 || wanted > 65_535) {
    throw new Error(`--port takes a number from 1 to 65535, not "${values.port}".`);
  }
  return {
    help: values.help,
    demo: values.demo,
    port: { wanted, fixed: values.port !== undefined },
  };
}

/** As `parseArgs`, with a way on for whoever mistyped. */
const parsed: typeof parseArgs = (config) => {
  try {
    return parseArgs(config);
  } catch (error) {
    const [first = 'Unknown argument.'] = String(
      error instanceof Error ? error.message : error,
    ).split('. ');
    throw new Error(`${first.replace(/\.?$/, '.')} See npm start -- --help`);
  }
};
