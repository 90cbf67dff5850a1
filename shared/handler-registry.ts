import { LeaseholdError } from './errors.ts';
import type { Handler } from './handler.ts';
import {
  MAX_LEASE_SECONDS,
  MAX_QUEUE_NAME_CHARS,
  MAX_RUN_SECONDS,
  MAX_SCHEMA_VERSION,
  MAX_TYPE_NAME_CHARS,
  MIN_LEASE_SECONDS,
} from './limits.ts';
import { QUEUE_NAME_RULE, TYPE_NAME_RULE, isValidName } from './names.ts';
import type { Platform } from './platform.ts';

/** The handlers of one deployment. */
export interface HandlerRegistry {
  /** Whether any handler serves the queue: only then may this deployment claim from it. */
  serves(queue: string): boolean;
  /** All queues that it serves. */
  readonly queues: readonly string[];
  find(queue: string, type: string): Handler | undefined;
  /**
   * Lease to ask for before the type of the next job is known: the longest that a handler of the queue declares, or
   * undefined when none does; then the queue's own setting counts.
   */
  leaseSeconds(queue: string): number | undefined;
  /** The longest run that a handler of the queue declares, or undefined when none does. */
  maxRunSeconds(queue: string): number | undefined;
}

/**
 * Checks a list of handlers as a whole and makes it searchable.
 *
 * @param platform where they are to run; without it, no run is too long
 * @throws {LeaseholdError} `config_invalid` when two serve the same queue and type, a name or time is out of range, or a
 *   handler may run for longer than the platform lets it
 * @example const handlers = handlerRegistry([httpRequest, csvReport]);
 */
export function handlerRegistry(
  handlers: readonly Handler[],
  platform?: Platform,
): HandlerRegistry {
  const byQueue = new Map<string, Map<string, Handler>>();
  for (const handler of handlers) {
    checkHandler(handler);
    if (platform !== undefined) checkRunFits(handler, platform);
    const byType = byQueue.get(handler.queue) ?? new Map<string, Handler>();
    if (byType.has(handler.type)) throw faultOf(handler, 'is defined twice');
    byQueue.set(handler.queue, byType.set(handler.type, handler));
  }
  return {
    serves: (queue) => byQueue.has(queue),
    queues: [...byQueue.keys()],
    find: (queue, type) => byQueue.get(queue)?.get(type),
    leaseSeconds: (queue) => longest(byQueue.get(queue), ({ leaseSeconds }) => leaseSeconds),
    maxRunSeconds: (queue) => longest(byQueue.get(queue), ({ maxRunSeconds }) => maxRunSeconds),
  };
}

function longest(
  handlers: ReadonlyMap<string, Handler> | undefined,
  secondsOf: (handler: Handler) => number | undefined,
): number | undefined {
  const declared = [...(handlers?.values() ?? [])].flatMap((handler) => secondsOf(handler) ?? []);
  return declared.length === 0 ? undefined : Math.max(...declared);
}

function checkHandler(handler: Handler): void {
  if (!isValidName(handler.queue, MAX_QUEUE_NAME_CHARS)) {
    throw faultOf(handler, `has a queue that ${QUEUE_NAME_RULE}`);
  }
  if (!isValidName(handler.type, MAX_TYPE_NAME_CHARS)) {
    throw faultOf(handler, `has a type that ${TYPE_NAME_RULE}`);
  }
  checkSeconds(handler, 'leaseSeconds', MIN_LEASE_SECONDS, MAX_LEASE_SECONDS);
  checkSeconds(handler, 'stepSeconds', 1, MAX_RUN_SECONDS);
  checkSeconds(handler, 'maxRunSeconds', 1, MAX_RUN_SECONDS);
  checkVersions(handler);
}

/** At start-up and not in the middle of a run: a job that cannot end there would only use up its attempts. */
function checkRunFits(handler: Handler, { name, maxRunSeconds }: Platform): void {
  if (handler.maxRunSeconds === undefined || handler.maxRunSeconds <= maxRunSeconds) return;
  throw faultOf(
    handler,
    `has maxRunSeconds ${handler.maxRunSeconds}, and a run on ${name} ends after ${maxRunSeconds} s: split the work ` +
      'into shorter jobs, or give the queue the delivery "push" or "pull", whose workers run elsewhere',
  );
}

function checkVersions(handler: Handler): void {
  const { schemaVersions } = handler;
  if (schemaVersions === undefined) return;
  const valid = schemaVersions.every(
    (version) => Number.isInteger(version) && version >= 1 && version <= MAX_SCHEMA_VERSION,
  );
  if (valid && schemaVersions.length > 0) return;
  throw faultOf(
    handler,
    `has schemaVersions that are not one or more integers from 1 to ${MAX_SCHEMA_VERSION}`,
  );
}

function checkSeconds(
  handler: Handler,
  field: 'leaseSeconds' | 'stepSeconds' | 'maxRunSeconds',
  least: number,
  most: number,
): void {
  const value = handler[field];
  if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) return;
  throw faultOf(handler, `has ${field} that is not an integer from ${least} to ${most}`);
}

function faultOf(handler: Handler, fault: string): LeaseholdError {
  const name = `${JSON.stringify(handler.type)} of queue ${JSON.stringify(handler.queue)}`;
  return new LeaseholdError('config_invalid', `The handler ${name} ${fault}.`, {
    problems: [{ path: 'handlers', message: `${name} ${fault}` }],
  });
}
