/** The part of AWS that the functions call, over HTTP on this machine: asynchronous invocations, schedules, secrets. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { createSchedulerService } from '../../aws/support/scheduler-service.ts';
import type { SchedulerService, StoredSchedule } from '../../aws/support/scheduler-service.ts';

/** Lambda stops functions that invoke each other about so deep. */
const MAX_DEPTH = 16;

export interface Cloud {
  readonly url: string;
  /** Runs a function by its name; throws when the invocation failed. */
  run: (name: string, event: unknown, depth: number) => Promise<void>;
  readonly scheduler: Omit<SchedulerService, 'url' | 'close'>;
  /** Events that failed to the end. */
  readonly deadLetters: readonly unknown[];
  /** Asynchronous invocations that were accepted. */
  readonly invocations: readonly { readonly event: unknown; readonly depth: number }[];
  /** The deepest chain of them. */
  readonly deepest: number;
  /** Values of secrets and parameters, by name. */
  readonly secrets: Map<string, string>;
  /** Invokes as Scheduler does: accepted at once, tried again when it fails. */
  invokeAsync(name: string, event: unknown, depth?: number): void;
  /** Waits until no event is on its way and no retry waits. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface CloudOptions {
  /** Retries of an event that failed, and the pause before each; Lambda's are one and two minutes. */
  readonly retriesMs: readonly number[];
  /** Schedules run by themselves; otherwise a test takes them out. */
  readonly runsSchedules: boolean;
  /** How often an event that was accepted is delivered: AWS promises once or more. Default: once. */
  readonly copies?: (event: unknown) => number;
}

export async function startCloud({
  retriesMs,
  runsSchedules,
  copies = () => 1,
}: CloudOptions): Promise<Cloud> {
  const deadLetters: unknown[] = [];
  const invocations: { readonly event: unknown; readonly depth: number }[] = [];
  const secrets = new Map<string, string>();
  const underway = new Set<Promise<void>>();
  const timers = new Set<NodeJS.Timeout>();
  let closed = false;

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        resolve();
      }, ms);
      timers.add(timer);
    });
  const deliver = async (name: string, event: unknown, depth: number): Promise<void> => {
    for (const wait of [0, ...retriesMs]) {
      if (wait > 0) await pause(wait);
      if (closed) return;
      try {
        await cloud.run(name, event, depth);
        return;
      } catch {
        // tried again
      }
    }
    deadLetters.push(event);
  };
  const runSchedule = ({ at, input }: StoredSchedule): void => {
    if (!runsSchedules) return;
    const target = input['Target'] as { readonly Arn: string; readonly Input: string };
    void pause(at - Date.now()).then(() => {
      scheduler.takeDue(at);
      if (!closed) cloud.invokeAsync(target.Arn.split(':').at(-1) ?? '', JSON.parse(target.Input));
    });
  };
  const scheduler = createSchedulerService({
    groups: ['leasehold'],
    now: () => Date.now(),
    onCreated: runSchedule,
  });

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const invoked = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(request.url ?? '');
    const operation = request.headers['x-amz-target'];
    if (invoked !== null) {
      const depth = depthOf(request) + 1;
      const event = JSON.parse(await text(request)) as unknown;
      if (request.headers['x-amz-invocation-type'] !== 'Event') {
        return answer(response, 400, {}, 'InvalidParameterValueException');
      }
      if (depth > MAX_DEPTH) return answer(response, 400, {}, 'RecursiveInvocationException');
      cloud.invokeAsync(decodeURIComponent(invoked[1] ?? ''), event, depth);
      return answer(response, 202);
    }
    if (operation === 'secretsmanager.GetSecretValue') {
      const { SecretId: id } = JSON.parse(await text(request)) as { readonly SecretId: string };
      const value = secrets.get(id);
      return value === undefined
        ? answer(response, 400, { __type: 'ResourceNotFoundException' })
        : answer(response, 200, { Name: id, SecretString: value });
    }
    if (operation === 'AmazonSSM.GetParametersByPath') {
      const { Path: path } = JSON.parse(await text(request)) as { readonly Path: string };
      const found = [...secrets].filter(([name]) => name.startsWith(`${path}/`));
      return answer(response, 200, {
        Parameters: found.map(([Name, Value]) => ({ Name, Value, Type: 'SecureString' })),
      });
    }
    return await scheduler.serve(request, response);
  };

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('no TCP address');

  const cloud: Cloud = {
    url: `http://127.0.0.1:${address.port}`,
    run: () => Promise.reject(new Error('No function is there.')),
    scheduler,
    deadLetters,
    invocations,
    get deepest() {
      return Math.max(0, ...invocations.map(({ depth }) => depth));
    },
    secrets,
    invokeAsync: (name, event, depth = 0) => {
      invocations.push({ event, depth });
      for (let copy = 0; copy < copies(event); copy += 1) {
        const delivery = deliver(name, event, depth).finally(() => underway.delete(delivery));
        underway.add(delivery);
      }
    },
    settled: async () => {
      while (underway.size > 0) await Promise.all(underway);
    },
    close: async () => {
      closed = true;
      for (const timer of timers) clearTimeout(timer);
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
  return cloud;
}

/** The SDK hands on what the runtime put into its environment. */
function depthOf(request: IncomingMessage): number {
  const trace = request.headers['x-amzn-trace-id'];
  return Number(/Lineage=\d+:\w+:(\d+)/.exec(String(trace))?.[1] ?? 0);
}

function answer(response: ServerResponse, status: number, body: object = {}, error?: string): void {
  response.writeHead(status, {
    'content-type': 'application/x-amz-json-1.1',
    ...(error === undefined ? {} : { 'x-amzn-errortype': error }),
  });
  response.end(JSON.stringify(body));
}
