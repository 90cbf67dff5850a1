/**
 * `npm run bench -- <name> [--short] [--json file] [--write] [--<parameter> value]`: benchmarks against peers and controls,
 * on an embedded Postgres 18 or the one of `DATABASE_URL`. Peers are installed on the first run.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BENCHES } from './benches.ts';
import type { Bench } from './support/bench.ts';
import { openBenchServer } from './support/bench-database.ts';
import { chartSvg } from './support/chart.ts';
import { installPeers } from './support/install-peers.ts';
import { optionNames, parseParameters } from './support/parse-parameters.ts';
import { createProgress } from './support/progress.ts';
import { reportJson, reportText, systemLoad } from './support/report.ts';

const RESULTS = fileURLToPath(new URL('../../docs/benchmarks/', import.meta.url));
const FLAGS = new Set(['short', 'write', 'help']);

interface Arguments {
  readonly names: readonly string[];
  readonly flags: ReadonlySet<string>;
  /** `--name value`. */
  readonly options: ReadonlyMap<string, string>;
}

const { names, flags, options } = readArguments(process.argv.slice(2));
const unknown = names.filter((name) => !BENCHES.some((bench) => bench.name === name));
if (flags.has('help') || names.length === 0 || unknown.length > 0) {
  if (unknown.length > 0) process.stderr.write(`Unknown: ${unknown.join(', ')}\n\n`);
  process.stdout.write(help());
  process.exitCode = unknown.length > 0 ? 2 : 0;
} else {
  await runAll(BENCHES.filter((bench) => names.includes(bench.name)));
}

async function runAll(benches: readonly Bench[]): Promise<void> {
  const progress = createProgress();
  installPeers((line) => process.stderr.write(`${line}\n`));
  const loadAtStart = systemLoad();
  const server = await openBenchServer(process.env['DATABASE_URL']);
  const stop = (): void => void server.stop().then(() => process.exit(130));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  try {
    for (const bench of benches) {
      const short = flags.has('short');
      const given = new Map([...options].filter(([name]) => name !== 'json'));
      const parameters = parseParameters(short ? bench.short : bench.full, given);
      progress.print(`\n${bench.name}: ${bench.summary}\n  ${server.description}`);
      const startedAt = new Date();
      const begun = performance.now();
      const result = await bench.run({ server, progress, short }, parameters);
      progress.print(`\n${reportText(result)}`);
      const json = reportJson(
        {
          bench: bench.name,
          command: `npm run bench -- ${process.argv.slice(2).join(' ')}`,
          parameters,
          versions: peerVersions(),
          server,
          startedAt,
          seconds: (performance.now() - begun) / 1000,
          loadAtStart,
        },
        result,
      );
      const file = options.get('json');
      if (file !== undefined) writeFileSync(file, json);
      if (flags.has('write')) {
        mkdirSync(RESULTS, { recursive: true });
        writeFileSync(join(RESULTS, `${bench.name}.json`), json);
        for (const chart of result.charts ?? []) {
          const name = [bench.name, chart.suffix].filter(Boolean).join('-');
          writeFileSync(join(RESULTS, `${name}.svg`), chartSvg(chart));
        }
      }
    }
  } finally {
    progress.clear();
    await server.stop();
  }
}

function readArguments(given: readonly string[]): Arguments {
  const found = {
    names: [] as string[],
    flags: new Set<string>(),
    options: new Map<string, string>(),
  };
  for (let at = 0; at < given.length; at += 1) {
    const argument = given[at] ?? '';
    const name = argument.slice(2);
    if (!argument.startsWith('--')) found.names.push(argument);
    else if (FLAGS.has(name)) found.flags.add(name);
    else {
      at += 1;
      found.options.set(name, given[at] ?? '');
    }
  }
  return found;
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
