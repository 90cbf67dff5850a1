import type { Command } from 'commander';

import type { Register } from '../cli.ts';
import type { Finding } from '../doctor/finding.ts';
import { runChecks } from '../doctor/run-checks.ts';
import { EXIT } from '../exit-code.ts';
import { paintState } from '../paint.ts';
import { printable } from '../printable.ts';

const STATUS_CHARS = 8;
const CHECK_CHARS = 26;

export const doctorCommand: Register = (program, open) => {
  program
    .command('doctor')
    .description('check a deployment, and say what to do')
    .option('--env-file <file>', 'variables of the deployment, such as .dev.vars')
    .option('--strict', `end with ${EXIT.failed} for warnings as well`)
    .addHelpText(
      'after',
      `
It looks at the variables of the deployment, at the service (LEASEHOLD_URL, LEASEHOLD_TOKEN) and at the database (DATABASE_URL): schema,
roles, clocks, plans, dead rows, old snapshots, waiting work. It changes nothing. A database that sleeps is woken.

Examples
  leasehold doctor
  leasehold doctor --env-file .dev.vars --strict --json`,
    )
    .action(
      async (
        options: { readonly envFile?: string; readonly strict?: boolean },
        command: Command,
      ) => {
        const cli = open(command);
        const findings = await runChecks(cli, options.envFile);
        const bad = findings.some(
          ({ status }) => status === 'fail' || (status === 'warn' && options.strict === true),
        );
        cli.answer({ ok: !bad, findings }, () =>
          findings.map((finding) => findingText(finding, cli.paint)).join(''),
        );
        if (bad) cli.endWith(EXIT.failed);
      },
    );
};

function findingText(
  { check, status, found, todo }: Finding,
  paint: Parameters<typeof paintState>[0],
): string {
  const word = paintState(paint, status, status.padEnd(STATUS_CHARS));
  const line = `${word}${check.padEnd(CHECK_CHARS)}${printable(found)}\n`;
  return todo === undefined ? line : `${line}${' '.repeat(STATUS_CHARS)}→ ${printable(todo)}\n`;
}
