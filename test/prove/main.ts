/**
 * `npm run prove -- <name> [--short]`: experiments too long or too talkative for `npm test`.
 * Each runs on a fresh database of a real Postgres that is started for it, and prints what it found.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startPostgres } from '../../infra/local/postgres.ts';
import { migrate } from '../../infra/migrate.ts';
import { createPgSql } from '../support/pg-sql.ts';
import { chaos } from './chaos.ts';
import type { Experiment } from './experiment.ts';
import { fuzz } from './fuzz.ts';
import { hundredThousand } from './hundred-thousand.ts';
import { mutations } from './mutations.ts';
import { outboxBroker } from './outbox-broker.ts';
import { outbox } from './outbox.ts';
import { plans } from './plans.ts';
import { races } from './races.ts';
import { retryStormExperiment } from './retry-storm.ts';
import { simulation } from './simulation.ts';
import { upgrade } from './upgrade.ts';

const EXPERIMENTS: readonly Experiment[] = [
  races,
  hundredThousand,
  plans,
  outboxBroker,
  retryStormExperiment,
  fuzz,
  outbox,
  simulation,
  mutations,
  chaos,
  upgrade,
];
const CONNECTIONS = 24;
/** Options with a value, for the experiments that know them. */
const VALUE_OPTIONS = ['minutes', 'seed', 'seeds', 'from'];

const { short, help, names, options, unknown } = readArguments(process.argv.slice(2));

if (help || names.length === 0 || unknown.length > 0) {
  if (unknown.length > 0) console.error(`Unknown: ${unknown.join(', ')}\n`);
  console.log('npm run prove -- <name> [<name> …] [--short]\n');
  for (const { name, summary } of EXPERIMENTS) console.log(`  ${name.padEnd(18)} ${summary}`);
  process.exitCode = unknown.length > 0 ? 2 : 0;
} else {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-prove-'));
  const postgres = await startPostgres({
    dataDir: folder,
    settings: { max_connections: '100', max_wal_size: '4GB' },
  });
  const stop = (): void => void postgres.stop().then(() => process.exit(130));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  try {
    for (const experiment of EXPERIMENTS.filter((one) => names.includes(one.name))) {
      await prove(experiment);
    }
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
    rmSync(postgres.cluster, { recursive: true, force: true });
  }

  async function prove(experiment: Experiment): Promise<void> {
    const { host, port, user, password } = postgres;
    const server = `postgres://${user}:${password}@${host}:${port}`;
    const database = `prove_${experiment.name.replaceAll('-', '_')}`;
    const admin = new pg.Client({ connectionString: `${server}/postgres` });
    await admin.connect();
    await admin.query(`create database ${database}`);
    await admin.end();
    await migrate({ connectionString: `${server}/${database}` });
    const pool = new pg.Pool({ connectionString: `${server}/${database}`, max: CONNECTIONS });
    pool.on('error', () => undefined); // an idle connection that the stopping server cut
    console.log(`\n${experiment.name}: ${experiment.summary}`);
    try {
      const faults = await experiment.run({
        pool,
        sql: createPgSql(pool),
        short,
        options,
        print: (line) => console.log(clearLine() + line),
        progress: (line) => {
          if (process.stderr.isTTY) process.stderr.write(`${clearLine()}  ${line}`);
        },
      });
      for (const fault of faults) console.error(`  DOES NOT HOLD: ${fault}`);
      console.log(
        faults.length === 0 ? `  ${experiment.name} holds` : `  ${experiment.name} does not hold`,
      );
      if (faults.length > 0) process.exitCode = 1;
    } finally {
      await pool.end();
    }
  }
}

function clearLine(): string {
  return process.stderr.isTTY ? '\r\u001b[K' : '';
}

function readArguments(args: readonly string[]): {
  readonly short: boolean;
  readonly help: boolean;
  readonly names: readonly string[];
  readonly options: Readonly<Record<string, string>>;
  readonly unknown: readonly string[];
} {
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    allowPositionals: true,
    strict: false,
    tokens: true,
    options: Object.fromEntries([
      ...['short', 'help'].map((name) => [name, { type: 'boolean' as const }]),
      ...VALUE_OPTIONS.map((name) => [name, { type: 'string' as const }]),
    ]) as Record<string, { type: 'boolean' | 'string' }>,
  });
  const known = ['short', 'help', ...VALUE_OPTIONS];
  return {
    short: values['short'] === true,
    help: values['help'] === true,
    names: positionals,
    options: Object.fromEntries(
      VALUE_OPTIONS.flatMap((name) => {
        const value = values[name];
        return typeof value === 'string' ? [[name, value]] : [];
      }),
    ),
    unknown: [
      ...positionals.filter((name) => !EXPERIMENTS.some((one) => one.name === name)),
      ...tokens.flatMap((token) =>
        token.kind === 'option' && !known.includes(token.name) ? [token.rawName] : [],
      ),
    ],
  };
}
