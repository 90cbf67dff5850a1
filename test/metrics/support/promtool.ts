import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import type { Sample } from '../../../shared/metrics/measures.ts';

export const NO_PROMTOOL =
  'There is no promtool on this machine. On Debian: apt-get install prometheus';

/** Prometheus's own checker, as Debian packages it; undefined when this machine has none. */
export function promtoolBinary(): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'promtool'))
    .find((file) => existsSync(file));
}

/** Runs promtool; rejects with what it says when it finds fault. */
export async function promtool(...parameters: readonly string[]): Promise<string> {
  const binary = promtoolBinary();
  if (binary === undefined) throw new Error(NO_PROMTOOL);
  const ran = await promisify(execFile)(binary, parameters).catch(
    (error: Error & { stdout?: string; stderr?: string }) => {
      throw new Error(`${error.stdout ?? ''}${error.stderr ?? ''}`);
    },
  );
  return ran.stdout;
}

/** Hours for which a world is as its samples say, before the rules are judged. */
const HOURS = 4;

/**
 * The names of the rules that fire in each of some worlds after hours of such samples, by Prometheus's own engine. Instants
 * among the samples are seconds from the beginning of those hours.
 */
export async function firingAlerts(
  rules: string,
  alerts: readonly string[],
  worlds: Readonly<Record<string, readonly Sample[]>>,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const folder = await mkdtemp(join(tmpdir(), 'leasehold-rules-'));
  try {
    const tests = Object.entries(worlds).map(([name, samples]) => ({
      name,
      interval: '1m',
      input_series: samples.map(seriesOf),
      // It is held that all rules are silent: what does not hold is said, and is what fires.
      alert_rule_test: alerts.map((alertname) => ({
        alertname,
        eval_time: `${HOURS}h`,
        exp_alerts: [],
      })),
    }));
    const file = join(folder, 'worlds.yaml');
    await writeFile(file, stringify({ rule_files: [rules], tests }));
    const said = await promtool('test', 'rules', file).catch((error: Error) => error.message);
    return firingIn(said, Object.keys(worlds));
  } finally {
    await rm(folder, { recursive: true });
  }
}

function seriesOf({ name, labels, value }: Sample): object {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`);
  return { series: `${name}{${pairs.join(',')}}`, values: `${value}x${HOURS * 60}` };
}

function firingIn(said: string, worlds: readonly string[]): Record<string, readonly string[]> {
  const firing: Record<string, string[]> = Object.fromEntries(worlds.map((name) => [name, []]));
  let world = '';
  let counted = 0;
  for (const [, kind, name = ''] of said.matchAll(/^\s*(name|alertname): ([^,\n]+)/gm)) {
    if (kind === 'name') world = name;
    else firing[world]?.push(name);
    counted += 1;
  }
  if (counted === 0 && !said.includes('SUCCESS')) throw new Error(said);
  return firing;
}
