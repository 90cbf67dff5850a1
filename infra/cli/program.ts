import { Command, CommanderError } from 'commander';

import { LeaseholdApiError } from '../../shared/client/api-error.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { CliError } from './cli-error.ts';
import { mayColour, openCli, usageError } from './cli.ts';
import type { GlobalOptions, Register } from './cli.ts';
import { deadCommands } from './commands/dead.ts';
import { doctorCommand } from './commands/doctor.ts';
import { enqueueCommands } from './commands/enqueue.ts';
import { escalationCommands } from './commands/escalations.ts';
import { eventCommands } from './commands/events.ts';
import { jobCommands } from './commands/jobs.ts';
import { queueCommands } from './commands/queues.ts';
import { scheduleCommands } from './commands/schedules.ts';
import { statusCommand } from './commands/status.ts';
import { tokenCommand } from './commands/token.ts';
import { EXIT } from './exit-code.ts';
import type { ExitCode } from './exit-code.ts';
import { painter } from './paint.ts';
import { printable, printableJson } from './printable.ts';
import type { Terminal } from './terminal.ts';

const GROUPS: readonly (readonly [heading: string, commands: readonly Register[]])[] = [
  ['Jobs:', [enqueueCommands, jobCommands]],
  ['What happens and happened:', [statusCommand, eventCommands]],
  ['Settling:', [deadCommands, escalationCommands]],
  ['Queues and schedules:', [queueCommands, scheduleCommands]],
  ['The deployment:', [tokenCommand, doctorCommand]],
];

const HELP = `
Environment
  LEASEHOLD_URL    where the service is (default: npm start of this checkout, whose secret signs in by itself)
  LEASEHOLD_TOKEN  a bearer token
  NO_COLOR         set: no colours. There are none either when the output is not a terminal

Exit codes
  ${EXIT.done} done   ${EXIT.failed} refused or failed   ${EXIT.usage} usage   ${EXIT.notFound} not found   ${EXIT.noAnswer} no answer, outcome unknown   ${EXIT.timeUp} --wait is over

Examples
  leasehold enqueue emails email.welcome '{"to":"ada@example.com"}' --wait 30
  leasehold list --state running --json
  leasehold dead redrive --queue emails --dry-run`;

/** A longer text is no help on a terminal. */
const HELP_COLUMNS = 100;

/**
 * Runs one command line to its end.
 *
 * @param args without the program's own name
 * @returns the exit code
 */
export async function runCommandLine(
  args: readonly string[],
  terminal: Terminal,
): Promise<ExitCode> {
  let code: ExitCode = EXIT.done;
  const json = args.includes('--json');
  const program = createProgram(terminal, json, (ended) => {
    code = ended;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.done;
      return json ? tell(terminal, { json }, usageError(error.message)) : EXIT.usage;
    }
    return tell(terminal, program.opts<GlobalOptions>(), error);
  }
}

/**
 * Every command there is.
 *
 * @param json whether errors are told as JSON
 * @param endWith takes the exit code of a command that throws nothing
 */
export function createProgram(
  terminal: Terminal,
  json: boolean,
  endWith: (code: ExitCode) => void,
): Command {
  const program = new Command('leasehold')
    .description('Jobs, queues and schedules of a Leasehold deployment.')
    .usage('<command> [options]')
    .option('--json', 'the answer as JSON')
    .option('--url <url>', 'instead of LEASEHOLD_URL')
    .option('--token-file <file>', 'instead of LEASEHOLD_TOKEN: a file that holds the token')
    .option('--no-color', 'no colours')
    .addHelpText('after', HELP)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: terminal.out,
      // With --json, errors are told as JSON, once.
      writeErr: json ? () => undefined : terminal.err,
      getOutHelpWidth: () => Math.min(terminal.columns ?? HELP_COLUMNS, HELP_COLUMNS),
      getErrHelpWidth: () => HELP_COLUMNS,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      outputError: (text, write) => write(printable(text.trimEnd()).replaceAll('\\n', '\n') + '\n'),
    })
    .showHelpAfterError('(leasehold --help, or --help after a command, tells more)')
    .helpCommand(false)
    .exitOverride();
  for (const [heading, commands] of GROUPS) {
    program.commandsGroup(heading);
    for (const register of commands) {
      register(program, (command) =>
        openCli(terminal, command.optsWithGlobals<GlobalOptions>(), endWith),
      );
    }
  }
  return program;
}

/** Says what went wrong, and what it comes to. */
function tell(terminal: Terminal, options: GlobalOptions, error: unknown): ExitCode {
  const known = knownError(error);
  if (options.json === true) {
    terminal.err(`${printableJson({ error: known.document }, 2)}\n`);
    return known.exitCode;
  }
  const paint = painter(mayColour(terminal, options, 'err'));
  const { message, code, problems, request_id: requestId } = known.document;
  const lines = [
    `${paint('error', 'red')} ${printable(message)}`,
    ...problems.map(({ path, message: text }) => `  ${printable(path)}: ${printable(text)}`),
    ...(requestId === undefined ? [] : [`  code ${code}, request ${printable(requestId)}`]),
  ];
  terminal.err(lines.map((line) => `${line}\n`).join(''));
  return known.exitCode;
}

interface ToldError {
  readonly exitCode: ExitCode;
  readonly document: {
    readonly code: string;
    readonly message: string;
    readonly status?: number;
    readonly request_id?: string;
    readonly problems: readonly { readonly path: string; readonly message: string }[];
  };
}

function knownError(error: unknown): ToldError {
  if (error instanceof LeaseholdApiError) {
    const { code, message, status, requestId, problems } = error;
    return {
      exitCode: exitCodeOf(error),
      document: {
        code,
        message: code === 'no_answer' ? `${message}${causeText(error)}` : message,
        status,
        ...(requestId === undefined ? {} : { request_id: requestId }),
        problems,
      },
    };
  }
  if (error instanceof CliError) {
    const { exitCode, code, message, problems } = error;
    return { exitCode, document: { code, message, problems } };
  }
  if (error instanceof LeaseholdError) {
    const { code, message, problems } = error;
    return { exitCode: EXIT.failed, document: { code, message, problems } };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { exitCode: EXIT.failed, document: { code: 'internal_error', message, problems: [] } };
}

function exitCodeOf({ code }: LeaseholdApiError): ExitCode {
  if (code === 'no_answer') return EXIT.noAnswer;
  return code === 'not_found' ? EXIT.notFound : EXIT.failed;
}

/** Why nothing came, in the words of the system: `ECONNREFUSED` and the like. */
function causeText({ cause }: Error): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  if (!(inner instanceof Error)) return '';
  const code = 'code' in inner ? String(inner.code) : inner.message;
  return ` (${code})`;
}
