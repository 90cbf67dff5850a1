/**
 * What the stream has told: which events were seen, and the newest word on each job. A list that was asked for before a
 * change arrived must not undo it, and an event that is shown early and comes again counts once.
 */
import type { BoardEvent, Change, JobSummary } from './wire.ts';

export interface ChangeMemory {
  /** Grows with each change; a request notes it before it is sent. */
  readonly mark: () => number;
  /** Takes a change in and gives back its events that are new. */
  readonly take: (change: Change) => readonly BoardEvent[];
  /** The jobs that changed since a mark, as they are: an answer to a request sent then may not know of them. */
  readonly changedSince: (mark: number) => readonly JobSummary[];
}

interface Told {
  readonly job: JobSummary;
  readonly mark: number;
}

/** Remembers so many events and jobs, the oldest forgotten first. */
export function changeMemory(capacity = 5000): ChangeMemory {
  const events = new Set<string>();
  const jobs = new Map<string, Told>();
  let mark = 0;
  return {
    mark: () => mark,
    take(change) {
      mark += 1;
      for (const job of change.jobs) {
        jobs.delete(job.id); // to the end of the line
        jobs.set(job.id, { job, mark });
      }
      const fresh = change.events.filter(({ id }) => !events.has(id));
      for (const { id } of fresh) events.add(id);
      forget(events, capacity);
      forget(jobs, capacity);
      return fresh;
    },
    changedSince: (from) =>
      [...jobs.values()].filter((told) => told.mark > from).map(({ job }) => job),
  };
}

function forget(kept: Set<string> | Map<string, unknown>, capacity: number): void {
  for (const key of kept.keys()) {
    if (kept.size <= capacity) return;
    kept.delete(key);
  }
}
