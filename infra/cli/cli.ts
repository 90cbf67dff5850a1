import type { Command } from 'commander';

import { createClient } from '../../shared/client/client.ts';
import type { LeaseholdClient } from '../../shared/client/client.ts';
import { CliError } from './cli-error.ts';
import { connectionOf } from './connection.ts';
import type { Connection, ConnectionOptions } from './connection.ts';
import { EXIT } from './exit-code.ts';
import type { ExitCode } from './exit-code.ts';
import { painter } from './paint.ts';
import type { Paint } from './paint.ts';
import { printableJson } from './printable.ts';
import { table } from './table.ts';
import type { Column } from './table.ts';
import type { Terminal } from './terminal.ts';

/** Options that every command takes. */
export interface GlobalOptions extends ConnectionOptions {
  readonly json?: boolean;
  /** False after `--no-color`. */
  readonly color?: boolean;
}

/** One command at work. */
export interface Cli {
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly paint: Paint;
  readonly connection: () => Connection;
  readonly client: () => LeaseholdClient;
  /** The answer: as JSON when that was asked for, else as the text that `text` makes. */
  readonly answer: (value: unknown, text: () => string) => void;
  /** A page as a table. */
  readonly rows: <Row>(
    value: unknown,
    columns: readonly Column<Row>[],
    rows: readonly Row[],
    none: string,
  ) => void;
  /** Says on standard error that a page is not the last one. */
  readonly more: (cursor: string | null) => void;
  /** What the process ends with when nothing is thrown. */
  readonly endWith: (code: ExitCode) => void;
}

/** Adds commands to the program; `open` gives what their actions work with. */
export type Register = (program: Command, open: (command: Command) => Cli) => void;

const JSON_INDENT = 2;

export function openCli(
  terminal: Terminal,
  options: GlobalOptions,
  endWith: (code: ExitCode) => void,
): Cli {
  const json = options.json === true;
  const write = (value: unknown): void => terminal.out(`${printableJson(value, JSON_INDENT)}\n`);
  const connection = (): Connection => connectionOf(terminal, options);
  return {
    terminal,
    json,
    paint: painter(mayColour(terminal, options, 'out')),
    connection,
    client: () => {
      const { url, token } = connection();
      return createClient({ baseUrl: url, token });
    },
    answer: (value, text) => {
      if (json) write(value);
      else terminal.out(text());
    },
    rows: (value, columns, rows, none) => {
      if (json) write(value);
      else if (rows.length === 0) terminal.err(`${none}\n`);
      else terminal.out(table(columns, rows, terminal.columns));
    },
    more: (cursor) => {
      if (cursor !== null && !json) terminal.err(`There are more: --all, or --cursor ${cursor}\n`);
    },
    endWith,
  };
}

/** On a terminal, unless NO_COLOR (https://no-color.org) or `--no-color` says otherwise. */
export function mayColour(
  { colours, env }: Terminal,
  options: GlobalOptions,
  stream: 'out' | 'err',
): boolean {
  return colours[stream] && options.color !== false && !env['NO_COLOR'] && options.json !== true;
}

/** A thing that the service does not have, or does not show to this token. */
export function notFound(what: string): CliError {
  return new CliError(`There is no ${what}, or your token may not see it.`, {
    exitCode: EXIT.notFound,
    code: 'not_found',
  });
}

/** What the service answered with, where that is no way to go on. */
export function refused(code: string, message: string): CliError {
  return new CliError(message, { exitCode: EXIT.failed, code });
}

export function usageError(message: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: 'usage' });
}
