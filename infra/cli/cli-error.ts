import type { FieldProblem } from '../../shared/errors.ts';
import type { ExitCode } from './exit-code.ts';

/** An end that the person at the terminal is told in plain words. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;
  readonly code: string;
  readonly problems: readonly FieldProblem[];

  constructor(
    message: string,
    details: {
      readonly exitCode: ExitCode;
      readonly code: string;
      readonly problems?: readonly FieldProblem[];
    },
  ) {
    super(message);
    this.exitCode = details.exitCode;
    this.code = details.code;
    this.problems = details.problems ?? [];
  }
}
