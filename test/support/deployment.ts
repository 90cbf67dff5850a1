import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { uuidv7 } from 'uuidv7';
import { inject } from 'vitest';
import type { WorkerBuild } from '../../infra/local/build-worker.ts';
import { isAlive } from '../../infra/local/processes.ts';
import type { SqlEndpoint } from '../../infra/local/sql-endpoint/endpoint.ts';
import { localToken, type TokenClaims } from '../../infra/local/token.ts';
import { startWorker } from '../../infra/local/worker.ts';
import type { JsonValue } from '../../shared/json-value.ts';
import type { Job } from '../../shared/queue/job.ts';
import { SCOPES } from '../../shared/scopes.ts';
import { signWebhook } from '../../shared/webhook.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { createHttpSql } from './http-sql.ts';

/** One database with its `/sql` endpoint, and as many Workers over it as a test starts. */
export interface Deployment {
  readonly database: TestDatabase;
  readonly endpoint: SqlEndpoint;
  /** Starts the deployed bundle in a workerd process of its own. */
  start(env?: Readonly<Record<string, string>>): Promise<DeployedWorker>;
  /** A token of this deployment. */
  token(of: TokenOf): Promise<string>;
  /** Ends every Worker that is left, and the database. */
  close(): Promise<void>;
}

/** Whom a token is for: the subject, and what and where they may. */
export type TokenOf = Pick<TokenClaims, 'subject' | 'scopes' | 'queues'>;

export interface DeployedWorker {
  readonly url: string;
  /** Process id of workerd. */
  readonly pid: number;
  /** What the Worker logged so far: JSON, a line each. */
  readonly logs: readonly string[];
  request(path: string, init?: RequestInit): Promise<Response>;
  /** Enqueues a job and gives its id. */
  enqueue(job: {
    readonly queue: string;
    readonly type: string;
    readonly payload: JsonValue;
    readonly delay_seconds?: number;
  }): Promise<string>;
  job(id: string): Promise<Job>;
  /** A signed poke, as Workers send them to each other; gives the answer. */
  poke(queue: string): Promise<{ readonly outcome: string; readonly attempt?: number }>;
  /** Runs the scheduled handler once. */
  runCron(): Promise<void>;
  /** SIGKILL: no clean-up code runs. Resolves when the process is gone. */
  kill(): Promise<void>;
}

const DEATH_POLL_MS = 10;

/**
 * @param build another Worker than the deployed one
 * @example
 * const deployment = await createDeployment();
 * const worker = await deployment.start({ INSERT_POKES: 'off' });
 * afterAll(() => deployment.close());
 */
export async function createDeployment(build: WorkerBuild = inject('worker')): Promise<Deployment> {
  const database = await createTestDatabase();
  const { endpoint, connectionString } = await createHttpSql(database);
  const authSecret = randomBytes(32).toString('base64url');
  const pokeSecret = `whsec_${randomBytes(32).toString('base64')}`;
  const token = await localToken(authSecret, {
    subject: 'tester',
    scopes: SCOPES,
    days: 1,
  });
  const stops: (() => Promise<void>)[] = [];
  return {
    database,
    endpoint,
    start: async (env = {}) => {
      const logs: string[] = [];
      const worker = await startWorker({
        build,
        env: {
          DATABASE_URL: connectionString,
          AUTH_SECRET: authSecret,
          POKE_SECRETS: pokeSecret,
          // A tick of the cron is the drain itself, and nothing happens between two of them.
          TIMED_WAKES: 'off',
          ...env,
        },
        log: (line) => void logs.push(line),
      });
      stops.push(() => worker.stop());
      return {
        ...clientOf(worker.url, token, pokeSecret),
        url: worker.url,
        pid: worker.pid,
        logs,
        runCron: () => worker.runCron(),
        kill: () => kill(worker.pid),
      };
    },
    token: (of) => localToken(authSecret, { ...of, days: 1 }),
    close: async () => {
      await Promise.all(stops.map((stop) => stop()));
      await endpoint.close();
      await database.drop();
    },
  };
}

function clientOf(
  url: string,
  token: string,
  pokeSecret: string,
): Pick<DeployedWorker, 'request' | 'enqueue' | 'job' | 'poke'> {
  const request = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
  return {
    request,
    enqueue: async (job) => {
      const id = uuidv7();
      await answer(
        await request('/v1/jobs', { method: 'POST', body: JSON.stringify({ id, ...job }) }),
      );
      return id;
    },
    job: async (id) => (await answer(await request(`/v1/jobs/${id}`))) as Job,
    poke: async (queue) => {
      const body = JSON.stringify({ queue, depth: 0 });
      const signature = signWebhook(pokeSecret, {
        id: `poke_${uuidv7()}`,
        body,
        nowMs: Date.now(),
      });
      const response = await fetch(`${url}/v1/work`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...signature },
        body,
      });
      return (await answer(response)) as { outcome: string; attempt?: number };
    },
  };
}

async function answer(response: Response): Promise<unknown> {
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return response.json();
}

async function kill(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  while (isAlive(pid)) await pause(DEATH_POLL_MS);
}
