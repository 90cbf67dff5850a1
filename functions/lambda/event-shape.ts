import { z } from 'zod';

import { MAX_POKE_DEPTH } from '../../shared/limits.ts';
import type { Poke } from '../../shared/ports.ts';

/** What a Lambda function of this project is invoked with. */
export type LambdaEvent =
  /** A request through a function URL or API Gateway's HTTP API: payload format 2.0. */
  | { readonly kind: 'http'; readonly event: HttpEvent }
  /** The schedule, a timed wake-up, or a rule on an event bus: the drain. */
  | { readonly kind: 'drain' }
  /** A poke from another function of this deployment. */
  | { readonly kind: 'poke'; readonly poke: Poke }
  | { readonly kind: 'unknown' };

/** The part of payload format 2.0 that is read. */
export interface HttpEvent {
  readonly version: '2.0';
  readonly rawPath: string;
  readonly rawQueryString: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly cookies?: readonly string[] | undefined;
  readonly body?: string | null | undefined;
  readonly isBase64Encoded: boolean;
  readonly requestContext: {
    readonly domainName?: string | undefined;
    readonly stage?: string | undefined;
    readonly http: { readonly method: string };
  };
}

const httpEvent = z.looseObject({
  version: z.literal('2.0'),
  rawPath: z.string(),
  rawQueryString: z.string(),
  headers: z.record(z.string(), z.string().optional()),
  cookies: z.array(z.string()).optional(),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean(),
  requestContext: z.looseObject({
    domainName: z.string().optional(),
    stage: z.string().optional(),
    http: z.looseObject({ method: z.string() }),
  }),
});

/** What the stack's own schedules send. */
const drainEvent = z.looseObject({ leasehold: z.literal('drain') });

/** What EventBridge sends when a schedule or a rule has no input of its own. */
const scheduledEvent = z.looseObject({
  source: z.enum(['aws.scheduler', 'aws.events']),
  'detail-type': z.literal('Scheduled Event'),
});

const pokeEvent = z.looseObject({
  leasehold: z.literal('poke'),
  queue: z.string(),
  depth: z.int().min(0).max(MAX_POKE_DEPTH),
  drain: z.boolean().default(false),
});

/** The event of a poke, for the function that is to take it. */
export function pokeEventOf(poke: Poke): object {
  return { leasehold: 'poke', ...poke };
}

/** The event of the drain, for a schedule. */
export function drainEventOf(): object {
  return { leasehold: 'drain' };
}

/**
 * Tells events apart by their shape, before anything takes one for a request: an adapter for HTTP makes a GET of whatever
 * it is given, and a wake-up that is answered 200 and does nothing looks like one that worked.
 */
export function readEvent(event: unknown): LambdaEvent {
  const http = httpEvent.safeParse(event);
  if (http.success) return { kind: 'http', event: http.data };
  if (drainEvent.safeParse(event).success || scheduledEvent.safeParse(event).success) {
    return { kind: 'drain' };
  }
  const poke = pokeEvent.safeParse(event);
  if (!poke.success) return { kind: 'unknown' };
  const { queue, depth, drain } = poke.data;
  return { kind: 'poke', poke: { queue, depth, drain } };
}
