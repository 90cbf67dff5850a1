/** A loaded part of an ordered list of jobs, kept true while jobs change. */
import type { JobSummary } from './wire.ts';

export interface ListKind {
  /** Whether a job belongs on the list. */
  readonly holds: (job: JobSummary) => boolean;
  /** Below zero: left comes first. */
  readonly order: (left: JobSummary, right: JobSummary) => number;
}

export interface JobList {
  readonly rows: readonly JobSummary[];
  /** Where the next page begins; null: all is loaded. */
  readonly next: string | null;
}

export const EMPTY_LIST: JobList = { rows: [], next: null };

/** Adds a page behind what is there. */
export function withPage(kind: ListKind, list: JobList, page: JobList): JobList {
  const known = new Set(page.rows.map(({ id }) => id));
  const kept = list.rows.filter(({ id }) => !known.has(id));
  return { rows: merge(kept, page.rows.filter(kind.holds), kind), next: page.next };
}

/**
 * Takes changed jobs in: new ones to their place, gone ones out. One that belongs behind the loaded part is left to the
 * page that will bring it. The same list when nothing on it changes.
 */
export function withChanges(kind: ListKind, list: JobList, jobs: readonly JobSummary[]): JobList {
  const changed = new Map(jobs.map((job) => [job.id, job]));
  const last = list.next === null ? undefined : list.rows.at(-1);
  const coming = [...changed.values()].filter(
    (job) => kind.holds(job) && (last === undefined || kind.order(job, last) <= 0),
  );
  const kept = list.rows.filter(({ id }) => !changed.has(id));
  if (coming.length === 0 && kept.length === list.rows.length) return list;
  return { rows: merge(kept, coming, kind), next: list.next };
}

function merge(
  left: readonly JobSummary[],
  right: readonly JobSummary[],
  { order }: ListKind,
): readonly JobSummary[] {
  const sorted = right.toSorted(order);
  const merged: JobSummary[] = [];
  let taken = 0;
  for (const row of left) {
    let next = sorted[taken];
    while (next !== undefined && order(next, row) < 0) {
      merged.push(next);
      taken += 1;
      next = sorted[taken];
    }
    merged.push(row);
  }
  return [...merged, ...sorted.slice(taken)];
}

export interface JobFilter {
  readonly queue?: string;
  readonly state?: string;
  readonly type?: string;
  readonly tag?: string;
  readonly ordering_key?: string;
  readonly dedup_key?: string;
}

/** Newest first: ids are UUIDs of version 7, so their order is that of time. */
export function jobsLike(filter: JobFilter): ListKind {
  return {
    holds: (job) =>
      fits(filter.queue, job.queue) &&
      fits(filter.state, job.state) &&
      fits(filter.type, job.type) &&
      fits(filter.ordering_key, job.ordering_key) &&
      fits(filter.dedup_key, job.dedup_key) &&
      (filter.tag === undefined || job.tags.includes(filter.tag)),
    order: (left, right) => compare(right.id, left.id),
  };
}

/** Dead or escalated jobs, those that wait longest first. */
export function waitingJobs(
  since: (job: JobSummary) => string | undefined,
  queue: string | undefined,
): ListKind {
  return {
    holds: (job) => since(job) !== undefined && fits(queue, job.queue),
    order: (left, right) =>
      compare(since(left) ?? '', since(right) ?? '') || compare(left.id, right.id),
  };
}

function fits(wanted: string | undefined, actual: string | null): boolean {
  return wanted === undefined || wanted === actual;
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
