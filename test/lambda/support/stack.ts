import { rmSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import type { SqlEndpoint } from '../../../infra/local/sql-endpoint/endpoint.ts';
import { localToken } from '../../../infra/local/token.ts';
import type { JsonValue } from '../../../shared/json-value.ts';
import type { Job } from '../../../shared/queue/job.ts';
import { SCOPES } from '../../../shared/scopes.ts';
import { createTestDatabase } from '../../support/database.ts';
import type { TestDatabase } from '../../support/database.ts';
import { createHttpSql } from '../../support/http-sql.ts';
import { startCloud } from './cloud.ts';
import type { Cloud, CloudOptions } from './cloud.ts';
import { bufferedResponse, functionUrlEvent, streamedResponse } from './http-events.ts';
import type { HttpCall } from './http-events.ts';
import { buildLambda } from './lambda-build.ts';
import { createLambdaFunction } from './lambda-function.ts';
import type { InvocationOutcome, LambdaFunction } from './lambda-function.ts';

/** The stack of infra/aws on this machine: its bundle in processes, its secret, its schedules, its database. */
export interface LambdaStack {
  readonly database: TestDatabase;
  readonly endpoint: SqlEndpoint;
  readonly cloud: Cloud;
  readonly api: LambdaFunction;
  readonly worker: LambdaFunction;
  /** What the functions logged so far: JSON, a line each. */
  readonly logs: readonly string[];
  readonly token: string;
  readonly pokeSecret: string;
  /** Through the function URL, as it streams. */
  request(path: string, init?: RequestInit): Promise<Response>;
  enqueue(job: {
    readonly queue: string;
    readonly type: string;
    readonly payload: JsonValue;
  }): Promise<string>;
  job(id: string): Promise<Job>;
  /** Runs the drain as the schedule does, without its retries; throws when it failed. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

export interface StackOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: { readonly api?: number; readonly worker?: number };
  readonly concurrency?: number;
  readonly cloud?: Partial<CloudOptions>;
}

const SECRET = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:leasehold-AbCdEf';

export async function createLambdaStack(options: StackOptions = {}): Promise<LambdaStack> {
  const build = await buildLambda('WorkerFunction');
  const database = await createTestDatabase();
  const { endpoint, connectionString } = await createHttpSql(database);
  const cloud = await startCloud({ retriesMs: [50, 100], runsSchedules: true, ...options.cloud });
  const authSecret = randomBytes(32).toString('base64url');
  const pokeSecret = `whsec_${randomBytes(32).toString('base64')}`;
  cloud.secrets.set(
    SECRET,
    JSON.stringify({
      DATABASE_URL: connectionString,
      AUTH_SECRET: authSecret,
      POKE_SECRETS: pokeSecret,
    }),
  );
  const logs: string[] = [];
  const functionOf = (handler: string, timeoutMs: number): LambdaFunction =>
    createLambdaFunction({
      folder: build.folder,
      handler,
      timeoutMs,
      concurrency: options.concurrency ?? 4,
      log: (line) => void logs.push(line),
      env: {
        ...containerEnv(cloud.url),
        SECRETS: `secretsmanager:${SECRET}`,
        ...options.env,
      },
    });
  const api = functionOf('lambda.stream', options.timeoutMs?.api ?? 30_000);
  const worker = functionOf('lambda.handler', options.timeoutMs?.worker ?? 60_000);
  cloud.run = async (_name, event, depth) => {
    const outcome = await worker.invoke(event, depth);
    if (outcome.kind !== 'returned') throw new Error(outcome.kind);
  };
  const token = await localToken(authSecret, { subject: 'tester', scopes: SCOPES, days: 1 });
  const request = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return await call(api, {
      ...callOf(path, init),
      headers: { ...headers, ...plain(init.headers) },
    });
  };
  return {
    database,
    endpoint,
    cloud,
    api,
    worker,
    logs,
    token,
    pokeSecret,
    request,
    enqueue: async (job) => {
      const id = uuidv7();
      const body = JSON.stringify({ id, ...job });
      await jsonOf(await request('/v1/jobs', { method: 'POST', body }));
      return id;
    },
    job: async (id) => (await jsonOf(await request(`/v1/jobs/${id}`))) as Job,
    drain: async () => {
      const outcome = await worker.invoke({ leasehold: 'drain' });
      if (outcome.kind !== 'returned') throw new Error(`The drain ended with "${outcome.kind}".`);
    },
    close: async () => {
      await cloud.close();
      await Promise.all([api.close(), worker.close()]);
      await endpoint.close();
      await database.drop();
      rmSync(build.folder, { recursive: true, force: true });
    },
  };
}

/** Sends a call through the function URL of a streaming function. */
export async function call(fn: LambdaFunction, request: HttpCall): Promise<Response> {
  return responseTo(await fn.invoke(functionUrlEvent(request)));
}

export function responseTo(outcome: InvocationOutcome): Response {
  switch (outcome.kind) {
    case 'streamed':
      return streamedResponse(Buffer.from(outcome.base64, 'base64'));
    case 'returned':
      return bufferedResponse(outcome.result);
    case 'killed':
    case 'threw': // what the function URL answers then
      return new Response('Internal Server Error', { status: 502 });
  }
}

/** What Lambda and the template put into the environment. */
export function containerEnv(cloudUrl: string): Record<string, string> {
  const account = 'arn:aws:lambda:eu-west-1:123456789012:function';
  return {
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_LAMBDA_FUNCTION_NAME: 'leasehold-worker',
    AWS_ENDPOINT_URL: cloudUrl,
    WORKER_FUNCTION: 'leasehold-worker',
    WORKER_TIMEOUT_SECONDS: '900',
    WAKE_SCHEDULE_GROUP: 'leasehold',
    WAKE_FUNCTION_ARN: `${account}:leasehold-worker`,
    WAKE_ROLE_ARN: 'arn:aws:iam::123456789012:role/leasehold-SchedulerRole-1A2B',
    WAKE_DEAD_LETTER_ARN: 'arn:aws:sqs:eu-west-1:123456789012:leasehold-DeadLetters-3C4D',
  };
}

function callOf(path: string, { method = 'GET', body }: RequestInit): HttpCall {
  return { method, path, ...(typeof body === 'string' ? { body } : {}) };
}

function plain(headers: RequestInit['headers']): Record<string, string> {
  return Object.fromEntries(new Headers(headers));
}

async function jsonOf(response: Response): Promise<unknown> {
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return response.json();
}
