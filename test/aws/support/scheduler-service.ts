/** EventBridge Scheduler as far as this project calls it, over HTTP: what the service would refuse is refused here. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { OPERATIONS, inputFaults } from './service-model.ts';

export interface StoredSchedule {
  readonly name: string;
  readonly group: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What happens to the next request instead of an answer, or besides it. */
export type Fault =
  | { readonly kind: 'error'; readonly type: string; readonly status: number }
  /** No answer ever. */
  | { readonly kind: 'hang' }
  /** It is done, and the answer is lost. */
  | { readonly kind: 'lost_answer' };

export interface SchedulerService {
  readonly url: string;
  readonly schedules: ReadonlyMap<string, StoredSchedule>;
  /** Names of the operations that were asked for, in order. */
  readonly calls: string[];
  /** What was refused as not of the model, in order. */
  readonly faults: readonly string[];
  /** Faults of the next requests, in order. */
  readonly next: Fault[];
  /** Serves one request; for a server that is more than this service. */
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Takes out what is due at `now`, as the service does when it runs it. */
  takeDue(now: number): StoredSchedule[];
  close(): Promise<void>;
}

export interface SchedulerServiceOptions {
  readonly groups: readonly string[];
  readonly now: () => number;
  readonly onCreated?: (schedule: StoredSchedule) => void;
}

export async function startSchedulerService(
  options: SchedulerServiceOptions,
): Promise<SchedulerService> {
  const service = createSchedulerService(options);
  const server = createServer((request, response) => void service.serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('no TCP address');
  return {
    ...service,
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function createSchedulerService({
  groups,
  now,
  onCreated,
}: SchedulerServiceOptions): Omit<SchedulerService, 'url' | 'close'> {
  const schedules = new Map<string, StoredSchedule>();
  const tokens = new Map<unknown, string>();
  const calls: string[] = [];
  const faults: string[] = [];
  const next: Fault[] = [];

  const create = (name: string, body: Readonly<Record<string, unknown>>): Answer => {
    const {
      GroupName: group = 'default',
      ClientToken: token,
      ScheduleExpression: expression,
    } = body;
    if (!groups.includes(String(group))) {
      return { status: 404, error: 'ResourceNotFoundException' };
    }
    // A token that came before is the same call, and its answer the same.
    if (tokens.get(token) === name) return { status: 200 };
    if (schedules.has(name)) return { status: 409, error: 'ConflictException' };
    const at = Date.parse(`${/^at\((.+)\)$/.exec(String(expression))?.[1]}Z`);
    if (!(at > now())) return { status: 400, error: 'ValidationException' };
    const schedule = { name, group: String(group), at, input: body };
    schedules.set(name, schedule);
    if (token !== undefined) tokens.set(token, name);
    onCreated?.(schedule);
    return { status: 200 };
  };

  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const path = request.url ?? '';
    const operation = OPERATIONS.find(
      (one) => one.method === request.method && one.path.test(path),
    );
    if (operation === undefined) return { status: 404, error: 'UnknownOperationException' };
    calls.push(operation.name);
    const name = decodeURIComponent(operation.path.exec(path)?.[1] ?? '');
    const body = JSON.parse(await text(request)) as Record<string, unknown>;
    const wrong = inputFaults(operation.input, { Name: name, ...body });
    faults.push(...wrong);
    if (wrong.length > 0) return { status: 400, error: 'ValidationException' };
    if (operation.name !== 'CreateSchedule') return { status: 501, error: 'NotHere' };
    return create(name, body);
  };

  return {
    schedules,
    calls,
    faults,
    next,
    takeDue: (time) => {
      const due = [...schedules.values()].filter(({ at }) => at <= time);
      for (const { name } of due) schedules.delete(name);
      return due;
    },
    serve: async (request, response) => {
      const fault = next.shift();
      if (fault?.kind === 'hang') return;
      if (fault?.kind === 'error')
        return send(response, { status: fault.status, error: fault.type });
      const done = await answer(request);
      if (fault?.kind === 'lost_answer') response.destroy();
      else send(response, done);
    },
  };
}

interface Answer {
  readonly status: number;
  readonly error?: string;
}

function send(response: ServerResponse, { status, error }: Answer): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(error === undefined ? {} : { 'x-amzn-errortype': error }),
  });
  const ok = { ScheduleArn: 'arn:aws:scheduler:eu-west-1:123456789012:schedule/group/name' };
  response.end(JSON.stringify(error === undefined ? ok : { Message: error }));
}
