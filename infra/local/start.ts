/** `npm start`: everything of Leasehold on this machine, with one command. See `npm start -- --help`. */
import { appendFileSync, rmSync } from 'node:fs';
import { SCOPES } from '../../shared/scopes.ts';
import { migrate } from '../migrate.ts';
import { banner } from './banner.ts';
import { buildWorker } from './build-worker.ts';
import { startCron } from './cron.ts';
import { runDemo } from './demo.ts';
import { freePort } from './free-port.ts';
import { openLocalDatabase } from './local-database.ts';
import { takeRunLock } from './run-lock.ts';
import { localSecrets } from './secrets.ts';
import { createShutdown, type Shutdown } from './shutdown.ts';
import { HELP, readStartArguments, type StartArguments } from './start-arguments.ts';
import { openStateFolder } from './state-folder.ts';
import { localToken } from './token.ts';
import { startWorker, type LocalWorker } from './worker.ts';

const MINUTE_MS = 60_000;
const TOKEN_DAYS = 30;
/** In the command line of every run; tells one from a stranger with the same process id. */
const MARKER = 'infra/local/start.ts';

const shutdown = createShutdown((name, error) =>
  console.error(`${name} did not stop cleanly: ${text(error)}`),
);
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => void end(0, 'Stopping …'));
}

try {
  const args = readStartArguments(process.argv.slice(2));
  if (args.help) console.log(HELP);
  else await start(args, shutdown);
} catch (error) {
  await end(1, text(error));
}

async function start(args: StartArguments, running: Shutdown): Promise<void> {
  const state = openStateFolder();
  const taken = takeRunLock(state.lock, MARKER);
  if (taken.outcome === 'running') {
    const where = taken.url === undefined ? '' : ` at ${taken.url}`;
    throw new Error(
      `Leasehold already runs in this checkout${where} (process ${taken.pid}). Stop it with Ctrl-C there, or: kill ${taken.pid}`,
    );
  }
  const { lock, cleanedUp } = taken;
  running.add('lock', () => lock.release());
  for (const leftover of cleanedUp) step(`ended ${leftover}, left by a run that was killed`);

  const given = process.env['DATABASE_URL'] || undefined;
  step(given === undefined ? 'starting Postgres' : 'using the database of DATABASE_URL');
  const database = await openLocalDatabase(state, given);
  running.add('database', () => database.stop());
  void database.ended.then(() => end(1, `The database has ended; see ${state.postgresLog}`));
  await migrate({ connectionString: database.directUrl, log: step }).catch((error: unknown) => {
    throw new Error(
      `The database cannot be migrated: ${text(error)}. ${given === undefined ? `See ${state.postgresLog}` : 'Check host, port, user, password and database of DATABASE_URL, and that the user may create a schema'}.`,
    );
  });

  step('building the Worker');
  const build = await buildWorker(state.build);
  const secrets = localSecrets(state.secrets);
  const outboxTarget = process.env['OUTBOX_TARGET_URL'] || undefined;
  rmSync(state.workerLog, { force: true });
  const worker = await startOnPort(args.port, (port) =>
    startWorker({
      build,
      port,
      env: {
        DATABASE_URL: database.workerUrl,
        AUTH_SECRET: secrets.authSecret,
        POKE_SECRETS: secrets.pokeSecret,
        PUSH_SECRETS: secrets.pushSecret,
        // Receivers on this machine and nowhere else.
        PUSH_ALLOW_HTTP: 'on',
        PUSH_ALLOWED_HOSTS: '127.0.0.1 localhost [::1]',
        OUTBOX_SECRETS: secrets.pushSecret,
        ...(outboxTarget === undefined ? {} : { OUTBOX_TARGET_URL: outboxTarget }),
      },
      log: (line) => appendFileSync(state.workerLog, `${line}\n`),
    }),
  );
  running.add('worker', () => worker.stop());
  lock.note({ url: worker.url, workerdPid: worker.pid });
  const token = await localToken(secrets.authSecret, {
    subject: 'local-developer',
    scopes: SCOPES,
    days: TOKEN_DAYS,
  });
  await untilReady(worker, token);

  const cron = startCron(
    MINUTE_MS,
    () => worker.runCron(),
    (error) => console.error(`cron: ${text(error)}`),
  );
  running.add('cron', () => cron.stop());

  console.log(banner({ url: worker.url, token, tokenDays: TOKEN_DAYS, database, state }));
  if (args.demo)
    await runDemo({ url: worker.url, token, print: console.log, signal: ending.signal });
}

async function startOnPort(
  { wanted, fixed }: StartArguments['port'],
  startOn: (port: number) => Promise<LocalWorker>,
): Promise<LocalWorker> {
  try {
    return await startOn(wanted);
  } catch (error) {
    if (fixed || !text(error).includes('Address already in use')) throw error;
    step(`port ${wanted} is taken, choosing another`);
    return startOn(await freePort());
  }
}

async function untilReady(worker: LocalWorker, token: string): Promise<void> {
  const response = await fetch(`${worker.url}/v1/ready`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (!response.ok) {
    throw new Error(`The Worker is not ready (${response.status}): ${await response.text()}`);
  }
}

async function end(code: number, message: string): Promise<void> {
  ending.abort();
  if (process.exitCode === undefined) {
    process.exitCode = code;
    if (code === 0) console.log(message);
    else console.error(message);
  }
  await shutdown.run();
  process.exit();
}

function step(message: string): void {
  console.log(`· ${message}`);
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
