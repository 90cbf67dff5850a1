/**
 * `npm run bench -- <name> [--short] [--json file] [--write] [--<parameter> value]`: benchmarks against peers and controls,
 * on an embedded Postgres 18 or the one of `DATABASE_URL`. Peers are installed on the first run.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BENCHES } from './benches.ts';
import type { Bench, Parameters } from './support/bench.ts';
import { openBenchServer, type BenchServer } from './support/bench-database.ts';
import { chartSvg } from './support/chart.ts';
import { installPeers } from './support/install-peers.ts';
import { optionNames, parseParameters } from './support/parse-parameters.ts';
import { createProgress, type Progress } from './support/progress.ts';
import { readArguments, type Arguments } from './support/read-arguments.ts';
import { reportJson, reportText, systemLoad } from './support/report.ts';

const RESULTS = fileURLToPath(new URL('../../docs/benchmarks/', import.meta.url));

interface Planned {
  readonly bench: Bench;
  readonly parameters: Parameters;
}

try {
  const given = readArguments(
    process.argv.slice(2),
    BENCHES.map(({ name }) => name),
  );
  if (given.help || given.names.length === 0) process.stdout.write(help());
  else await runAll(given, plan(given));
} catch (error) {
  process.stderr.write(
    `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exitCode = 1;
}

/** Parameters are read before anything starts. */
function plan({ names, short, parameters }: Arguments): Planned[] {
  return BENCHES.filter(({ name }) => names.includes(name)).map((bench) => ({
    bench,
    parameters: parseParameters(short ? bench.short : bench.full, parameters),
  }));
}

async function runAll(given: Arguments, planned: readonly Planned[]): Promise<void> {
  const progress = createProgress();
  installPeers((line) => process.stderr.write(`${line}\n`));
  const server = await openBenchServer(process.env['DATABASE_URL']);
  const stop = (): void => void server.stop().then(() => process.exit(130));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  try {
    for (const one of planned) await runOne(given, one, server, progress);
  } finally {
    progress.clear();
    await server.stop();
  }
}

async function runOne(
  { short, json, write }: Arguments,
  { bench, parameters }: Planned,
  server: BenchServer,
  progress: Progress,
): Promise<void> {
  progress.print(`\n${bench.name}: ${bench.summary}\n  ${server.description}`);
  const loadAtStart = systemLoad();
  const startedAt = new Date();
  const begun = performance.now();
  const result = await bench.run({ server, progress, short }, parameters);
  progress.print(`\n${reportText(result)}`);
  const facts = {
    bench: bench.name,
    command: `npm run bench -- ${process.argv.slice(2).join(' ')}`,
    parameters,
    versions: peerVersions(),
    server,
    startedAt,
    seconds: (performance.now() - begun) / 1000,
    loadAtStart,
  };
  if (json !== undefined) writeFileSync(json, reportJson(facts, result));
  if (!write) return;
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, `${bench.name}.json`), reportJson(facts, result));
  for (const chart of result.charts ?? []) {
    const name = [bench.name, chart.suffix].filter((part) => part !== undefined).join('-');
    writeFileSync(join(RESULTS, `${name}.svg`), chartSvg(chart));
  }
}

function peerVersions(): Readonly<Record<string, string>> {
  const manifest = readFileSync(new URL('package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { devDependencies: Record<string, string> }).devDependencies;
}

function help(): string {
  const lines = BENCHES.map(
    ({ name, summary, full }) =>
      `  ${name.padEnd(16)} ${summary}\n  ${''.padEnd(16)} ${optionNames(full).join(' ')}`,
  );
  return `npm run bench -- <name> [<name> …] [--short] [--json file] [--write] [--<parameter> value]

  --short   a form of less than a minute
  --json    writes the result as JSON
  --write   writes docs/benchmarks/<name>.json and .svg
  DATABASE_URL, if set, names the Postgres to use; databases called bench_… are made on it and dropped

${lines.join('\n')}
`;
}
