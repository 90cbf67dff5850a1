import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

import { parseJsonBytes } from '../../shared/json-text.ts';
import type { JsonValue } from '../../shared/json-value.ts';
import { CliError } from './cli-error.ts';
import { usageError } from './cli.ts';
import { EXIT } from './exit-code.ts';
import type { Terminal } from './terminal.ts';

/**
 * JSON as a person gives it on a command line: the text itself, `@file`, or `-` for standard input. What would not arrive as it
 * was written (duplicate keys, numbers that a double would change) is refused here already.
 *
 * @throws {CliError} naming the argument and the fault
 */
export async function readJsonInput(
  terminal: Terminal,
  name: string,
  given: string,
): Promise<JsonValue> {
  const parsed = parseJsonBytes(await readInput(terminal, given));
  if (parsed.ok) return parsed.value;
  const [first] = parsed.problems;
  throw new CliError(`${name} is not JSON that can be sent: ${first?.path} ${first?.message}`, {
    exitCode: EXIT.usage,
    code: 'invalid_json',
    problems: parsed.problems,
  });
}

/** The bytes behind a text, `@file` or `-`. */
export async function readInput(terminal: Terminal, given: string): Promise<Uint8Array> {
  if (given === '-') return await terminal.readStdin();
  if (!given.startsWith('@')) return new TextEncoder().encode(given);
  const path = resolve(terminal.folder, given.slice(1));
  try {
    return await readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'error';
    throw usageError(`${path} cannot be read (${code}).`);
  }
}
