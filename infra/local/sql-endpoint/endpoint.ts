/**
 * A Neon-compatible `/sql` endpoint in front of an ordinary Postgres, for development and tests: the official driver
 * (`@neondatabase/serverless`) talks to it as it talks to Neon's proxy, headers, error bodies and status codes included.
 *
 * Where it departs from the proxy, on purpose:
 * - plain http on the loopback interface only, and no CORS headers, so that a web page cannot use it;
 * - any host in the connection string, IP addresses too: there is one upstream;
 * - password sign-in only: a request with an `Authorization` header (the driver's `authToken`) is refused;
 * - at most `poolSize` connections per user and database: the proxy opens more and throws them away;
 * - the session is cleaned before the answer goes out, not before the connection is used again;
 * - a fault switch.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { failAfter, failBefore } from './apply-fault.ts';
import type { Upstream } from './cancel.ts';
import { readCredentials } from './credentials.ts';
import { EndpointError, uncodedError } from './error-response.ts';
import { createFaultQueue, type FaultQueue, type FaultSwitch } from './faults.ts';
import { DEFAULT_CONNECTION_WAIT_MS, DEFAULT_POOL_SIZE, KEEP_ALIVE_MS } from './limits.ts';
import { createPools, type Pools } from './pools.ts';
import { readOutputMode, readPayload, readTransactionMode, type Payload } from './request.ts';
import { runPayload } from './run-payload.ts';
import { ClientGoneError } from './run-statement.ts';
import { sendJson } from './send-json.ts';

export interface SqlEndpointOptions {
  readonly host?: '127.0.0.1' | '::1' | 'localhost';
  /** A free one when left out. */
  readonly port?: number;
  /** The Postgres, or PgBouncer in transaction mode, behind it. */
  readonly upstream: Upstream;
  /** Connections per user and database, from 1; 20 when left out. */
  readonly poolSize?: number;
  /** How long a request waits for one of them before it is answered with 500; 10 s when left out. */
  readonly connectionWaitMs?: number;
}

export interface SqlEndpoint {
  /** e.g. `http://127.0.0.1:4444/sql` */
  readonly url: string;
  readonly port: number;
  readonly faults: FaultSwitch;
  /** Statements and batches asked for so far: each POST to /sql, faults included. */
  readonly requests: number;
  /** Refuses new requests, drops those in flight (their statements are cancelled) and closes every connection. */
  close(): Promise<void>;
}

const LOOPBACK_HOSTS: readonly string[] = ['127.0.0.1', '::1', 'localhost'];

/**
 * Starts the endpoint. User, password and database come with each request, in its `Neon-Connection-String` header.
 *
 * @example
 * const endpoint = await startSqlEndpoint({ upstream: { host: '127.0.0.1', port: 5432 } });
 * const url = `postgres://user:password@127.0.0.1:${endpoint.port}/database`; // a DATABASE_URL
 */
export async function startSqlEndpoint(options: SqlEndpointOptions): Promise<SqlEndpoint> {
  const host = options.host ?? '127.0.0.1';
  if (!LOOPBACK_HOSTS.includes(host)) {
    throw new RangeError('The SQL endpoint speaks plain http: it listens on loopback only.');
  }
  const faults = createFaultQueue();
  const pools = createPools(options.upstream, {
    poolSize: options.poolSize ?? DEFAULT_POOL_SIZE,
    connectionWaitMs: options.connectionWaitMs ?? DEFAULT_CONNECTION_WAIT_MS,
  });
  const context: Context = { upstream: options.upstream, faults, pools };
  const inFlight = new Set<Promise<void>>();
  let requests = 0;
  const server = createServer((request, response) => {
    if (isSqlPost(request)) requests += 1;
    const served = serve(request, response, context).finally(() => inFlight.delete(served));
    inFlight.add(served);
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('no TCP address');
  const { port } = address;
  return {
    url: `http://${host === '::1' ? '[::1]' : host}:${port}/sql`,
    port,
    faults,
    get requests() {
      return requests;
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      server.closeAllConnections();
      await Promise.all([closed, ...inFlight]);
      await pools.end();
    },
  };
}

interface Context {
  readonly upstream: Upstream;
  readonly faults: FaultQueue;
  readonly pools: Pools;
}

function isSqlPost(request: IncomingMessage): boolean {
  return request.method === 'POST' && isSqlPath(request);
}

function isSqlPath(request: IncomingMessage): boolean {
  return request.url?.split('?')[0] === '/sql';
}

/** Answers one request; never rejects. */
async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  context: Context,
): Promise<void> {
  response.setHeader('neon-request-id', randomUUID());
  try {
    if (!isSqlPath(request)) throw uncodedError(404, 'not found');
    if (request.method === 'OPTIONS') {
      response.writeHead(204, { allow: 'POST, OPTIONS' }).end();
    } else if (request.method === 'POST') {
      await servePost(request, response, context);
    } else {
      response.setHeader('allow', 'POST, OPTIONS');
      throw uncodedError(405, 'method not allowed');
    }
  } catch (error) {
    if (response.destroyed || error instanceof ClientGoneError) return;
    const { status, body } =
      error instanceof EndpointError ? error : uncodedError(500, 'internal error');
    request.resume();
    sendJson(response, status, JSON.stringify(body));
  }
}

async function servePost(
  request: IncomingMessage,
  response: ServerResponse,
  context: Context,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  if (request.headers.authorization !== undefined) {
    throw uncodedError(400, 'the local endpoint takes a password, not a bearer token');
  }
  const credentials = readCredentials(request.headers['neon-connection-string']);
  const output = readOutputMode(request.headers);
  const transaction = readTransactionMode(request.headers);
  const payload = await readPayload(request);
  const fault = context.faults.take(statementTexts(payload));
  if ((await failBefore(fault, response, gone.signal)) === 'answered') return;

  const client = await context.pools.acquire(credentials);
  const { upstream } = context;
  const body = await runPayload(payload, {
    client,
    upstream,
    output,
    transaction,
    gone: gone.signal,
  });
  if (failAfter(fault, response, body) === 'answered') return;

  if (payload.kind === 'batch') echoTransactionMode(request, response);
  sendJson(response, 200, body);
}

function statementTexts(payload: Payload): string[] {
  return payload.kind === 'single'
    ? [payload.statement.text]
    : payload.statements.map((statement) => statement.text);
}

const ECHOED_HEADERS = [
  'neon-batch-isolation-level',
  'neon-batch-read-only',
  'neon-batch-deferrable',
];

function echoTransactionMode(request: IncomingMessage, response: ServerResponse): void {
  for (const name of ECHOED_HEADERS) {
    const value = request.headers[name];
    // The two switches are echoed when they are on.
    if (typeof value === 'string' && (name === ECHOED_HEADERS[0] || value === 'true')) {
      response.setHeader(name, value);
    }
  }
}
