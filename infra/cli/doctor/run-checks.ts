import { LeaseholdError } from '../../../shared/errors.ts';
import type { Cli } from '../cli.ts';
import { CliError } from '../cli-error.ts';
import type { Connection } from '../connection.ts';
import { checkConfig, settingsOf } from './config-check.ts';
import { databaseUrlOf, openDatabase } from './database.ts';
import type { DoctorDatabase } from './database.ts';
import { fail, ok, skipped } from './finding.ts';
import type { Finding } from './finding.ts';
import { checkPlans } from './plan-checks.ts';
import { checkRoles } from './role-checks.ts';
import { checkSchema } from './schema-checks.ts';
import { checkService } from './service-checks.ts';
import { checkVacuum } from './vacuum-checks.ts';
import { checkDatabaseClock, checkWork } from './work-checks.ts';

/**
 * Every check that there is something to go by for. A check that breaks is a finding like others, so that one fault does not hide
 * the next.
 *
 * @param envFile with the variables of the deployment
 */
export async function runChecks(
  cli: Cli,
  envFile: string | undefined,
): Promise<readonly Finding[]> {
  const { terminal } = cli;
  const settings = settingsOf(terminal, envFile);
  const connection = connectionOrReason(cli);
  const isLocal = typeof connection !== 'string' && connection.isLocal;
  const service =
    typeof connection === 'string'
      ? [skipped('service', 'it is not known where the service is', connection)]
      : await guarded('service', () => checkService(connection, terminal.now));
  const database = await databaseFindings(databaseUrlOf(settings, isLocal), terminal.now);
  // Both know of the last scheduled pass; once is enough.
  const toldTick = service.some(({ check }) => check === 'service.tick');
  return [
    ...checkConfig(settings),
    ...service,
    ...database.filter(({ check }) => !toldTick || check !== 'database.tick'),
  ];
}

async function databaseFindings(
  url: string | undefined,
  now: () => number,
): Promise<readonly Finding[]> {
  const check = 'database.reachable';
  if (url === undefined) {
    return [
      skipped(
        'database',
        'DATABASE_URL is not set',
        'To check the database, set it, or give --env-file.',
      ),
    ];
  }
  let database: DoctorDatabase;
  try {
    database = await openDatabase(url);
  } catch (error) {
    const todo = 'Check host, port, user, password and database of DATABASE_URL.';
    return [fail(check, textOf(error), todo)];
  }
  try {
    const schema = await guarded('database.schema', () => checkSchema(database));
    const first = [
      ok(check, database.description),
      ...(await guarded('database.clock', () => checkDatabaseClock(database, now))),
    ];
    // Without its tables there is nothing further to look at.
    if (schema.some(({ check: name, status }) => name === 'database.schema' && status === 'fail')) {
      return [...first, ...schema];
    }
    return [
      ...first,
      ...schema,
      ...(await guarded('database.roles', () => checkRoles(database))),
      ...(await guarded('database.plans', () => checkPlans(database))),
      ...(await guarded('database.vacuum', () => checkVacuum(database))),
      ...(await guarded('database.work', () => checkWork(database))),
    ];
  } finally {
    await database.close();
  }
}

async function guarded(
  check: string,
  run: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await run();
  } catch (error) {
    return [
      fail(
        check,
        `cannot be checked: ${textOf(error)}`,
        'Remove what the text names, and ask again.',
      ),
    ];
  }
}

function connectionOrReason(cli: Cli): Connection | string {
  try {
    return cli.connection();
  } catch (error) {
    if (error instanceof CliError) return error.message;
    throw error;
  }
}

function textOf(error: unknown): string {
  if (error instanceof LeaseholdError || error instanceof Error) return error.message;
  return String(error);
}
