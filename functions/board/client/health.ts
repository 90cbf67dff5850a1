/** How a queue fares, judged by age before depth: a deep queue that moves is well, one old job may not be. */
import { secondsSince } from './format.ts';
import type { BoardEvent, Count, Overview, QueueHealth } from './wire.ts';

export type Health = 'well' | 'waiting' | 'late' | 'idle' | 'paused';

/** Due for longer than this deserves a look. */
export const WAITING_SECONDS = 60;
/** Due for longer than this is trouble. */
export const LATE_SECONDS = 10 * 60;

export function healthOf(
  queue: Pick<QueueHealth, 'paused' | 'oldest_due_at' | 'running'>,
  nowMs: number,
): Health {
  if (queue.paused !== null) return 'paused';
  if (queue.oldest_due_at === null) return queue.running.count > 0 ? 'well' : 'idle';
  const age = secondsSince(queue.oldest_due_at, nowMs);
  if (age >= LATE_SECONDS) return 'late';
  return age >= WAITING_SECONDS ? 'waiting' : 'well';
}

/** Those in trouble first: by the age of the oldest due job, then by name. */
export function byAge(left: QueueHealth, right: QueueHealth): number {
  const age = (queue: QueueHealth): number =>
    queue.oldest_due_at === null ? Infinity : Date.parse(queue.oldest_due_at);
  const leftAge = age(left);
  const rightAge = age(right);
  if (leftAge !== rightAge) return leftAge < rightAge ? -1 : 1;
  return left.name < right.name ? -1 : 1;
}

export function total(queues: readonly QueueHealth[], pick: (queue: QueueHealth) => Count): Count {
  return queues.reduce<Count>(
    (sum, queue) => ({
      count: sum.count + pick(queue).count,
      capped: sum.capped || pick(queue).capped,
    }),
    { count: 0, capped: false },
  );
}

export function oldest(instants: readonly (string | null)[]): string | null {
  return instants.reduce<string | null>(
    (first, one) => (one !== null && (first === null || one < first) ? one : first),
    null,
  );
}

/** Pauses show at once, and not with the next overview: they explain why nothing moves. */
export function withSwitches(seen: Overview, events: readonly BoardEvent[]): Overview {
  const switches = events.filter(({ type }) => type === 'paused' || type === 'resumed');
  if (switches.length === 0) return seen;
  const paused = new Map(switches.map((event) => [event.queue, pauseOf(event)]));
  return {
    ...seen,
    queues: seen.queues.map((queue) => {
      const told = paused.get(queue.name);
      return told === undefined ? queue : { ...queue, paused: told };
    }),
  };
}

function pauseOf({ type, at, actor, details }: BoardEvent): QueueHealth['paused'] {
  if (type === 'resumed') return null;
  const reason =
    typeof details === 'object' && details !== null && 'reason' in details
      ? (details['reason'] as unknown)
      : null;
  return { since: at, by: actor, reason: typeof reason === 'string' ? reason : null };
}
