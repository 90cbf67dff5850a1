import type { Clock, Ids, Random, Timer } from '../ports.ts';
import { webClock, webIds, webRandom, webTimer } from '../web-ports.ts';
import type { Tracer } from '../tracer.ts';
import { deadLetterCalls } from './dead-letter-calls.ts';
import type { DeadLetterCalls } from './dead-letter-calls.ts';
import { escalationCalls } from './escalation-calls.ts';
import type { EscalationCalls } from './escalation-calls.ts';
import { jobCalls } from './job-calls.ts';
import type { JobCalls } from './job-calls.ts';
import { leaseCalls } from './lease-calls.ts';
import type { LeaseCalls } from './lease-calls.ts';
import { logCalls } from './log-calls.ts';
import type { LogCalls } from './log-calls.ts';
import { outboxCalls } from './outbox-calls.ts';
import type { OutboxCalls } from './outbox-calls.ts';
import { queueCalls } from './queue-calls.ts';
import type { QueueCalls } from './queue-calls.ts';
import { scheduleCalls } from './schedule-calls.ts';
import type { ScheduleCalls } from './schedule-calls.ts';
import { createTransport } from './transport.ts';
import type { TransportOptions } from './transport.ts';

export interface ClientOptions {
  /** Where the service is, `https://jobs.example.com`. */
  readonly baseUrl: string;
  /** A bearer token, or what gives a fresh one. Its subject is the owner of every lease that is claimed with it. */
  readonly token: string | (() => string | Promise<string>);
  /** Default: the global one. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** Makes the spans of producers and of pull workers; see `openTelemetryTracer`. Default: nothing is traced. */
  readonly tracer?: Tracer;
  /** For tests: time, randomness, ids. */
  readonly ports?: Partial<ClientPorts>;
}

export interface ClientPorts {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly random: Random;
  readonly ids: Ids;
}

/** Calls of producers and workers, and of operators by resource. */
export interface LeaseholdClient extends JobCalls, LeaseCalls {
  readonly queues: QueueCalls;
  readonly deadLetters: DeadLetterCalls;
  readonly escalations: EscalationCalls;
  readonly schedules: ScheduleCalls;
  readonly outbox: OutboxCalls;
  /** The event log: history, reads after a cursor, and what happens live. */
  readonly log: LogCalls;
  /** What the client runs on, for what is built on top of it. */
  readonly ports: ClientPorts;
  readonly tracer: Tracer | undefined;
}

/**
 * A client of the HTTP API. Every write can be repeated: it carries a job id, claim id, fencing token or
 * `Idempotency-Key` of its own, and is sent again with jitter until it is answered, so that a lost answer is safe.
 *
 * @example
 * const client = createClient({ baseUrl: 'https://jobs.example.com', token });
 * await client.enqueue({ queue: 'emails', type: 'email.welcome', payload: { to: 'ada@example.com' } });
 */
export function createClient(options: ClientOptions): LeaseholdClient {
  const { baseUrl, token, tracer } = options;
  const ports: ClientPorts = {
    clock: webClock,
    timer: webTimer,
    random: webRandom,
    ids: webIds,
    ...options.ports,
  };
  const transportOptions: TransportOptions = {
    ...ports,
    baseUrl,
    token: typeof token === 'string' ? () => token : token,
    fetch: options.fetch ?? ((request) => fetch(request)),
  };
  const transport = createTransport(transportOptions);
  return {
    ...jobCalls(transport, ports.ids, tracer),
    ...leaseCalls(transport, ports.ids),
    queues: queueCalls(transport),
    deadLetters: deadLetterCalls(transport),
    escalations: escalationCalls(transport, ports.ids),
    schedules: scheduleCalls(transport),
    outbox: outboxCalls(transport, ports.ids),
    log: logCalls(transport, transportOptions),
    ports,
    tracer,
  };
}
