import type { Finding } from '../../../infra/cli/doctor/finding.ts';
import type { CliHarness, RunOptions } from './cli-harness.ts';

/** What the doctor says. */
export interface Report {
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}

/** Asks the doctor about the deployment of a test. */
export async function askDoctor(
  cli: CliHarness,
  options: RunOptions = {},
): Promise<Report & { readonly code: number }> {
  const env = { DATABASE_URL: cli.app.database.pgUrl, ...options.env };
  const { code, out } = await cli.run(['doctor', '--json'], { ...options, env });
  return { code, ...(JSON.parse(out) as Report) };
}
