import type { JobSummary } from '../../shared/queue/job.ts';
import type { Cli } from './cli.ts';
import { paintState } from './paint.ts';
import { relativeText } from './time-text.ts';
import type { Column } from './table.ts';

/** How lists show a job. */
export function jobColumns({ terminal, paint }: Cli): readonly Column<JobSummary>[] {
  return [
    { title: 'ID', value: ({ id }) => id },
    {
      title: 'STATE',
      value: ({ state, waiting_for }) =>
        waiting_for === null ? state : `${state} (${waiting_for.replace('_', ' ')})`,
      paint: (cell, { state }) => paintState(paint, state, cell),
    },
    { title: 'QUEUE', value: ({ queue }) => queue, mayShrink: true },
    { title: 'TYPE', value: ({ type }) => type, mayShrink: true },
    { title: 'ATTEMPT', value: ({ attempt, max_attempts }) => `${attempt}/${max_attempts}` },
    { title: 'WHEN', value: (job) => whenText(job, terminal.now()) },
    { title: 'MORE', value: moreText, mayShrink: true },
  ];
}

/** How lists show a dead job: since when and why come first. */
export function deadColumns({ terminal, paint }: Cli): readonly Column<JobSummary>[] {
  return [
    { title: 'ID', value: ({ id }) => id },
    {
      title: 'DEAD SINCE',
      value: ({ dead }) => (dead === null ? null : relativeText(dead.since, terminal.now())),
    },
    { title: 'QUEUE', value: ({ queue }) => queue, mayShrink: true },
    { title: 'TYPE', value: ({ type }) => type, mayShrink: true },
    {
      title: 'REASON',
      value: ({ dead }) => dead?.reason,
      paint: (cell) => paint(cell, 'red'),
    },
    { title: 'OWNER', value: ({ dead }) => dead?.owner, mayShrink: true },
    { title: 'ERROR', value: ({ dead }) => errorText(dead?.error), mayShrink: true },
  ];
}

/** The message of an error as it is stored, or all of it when it has none. */
export function errorText(error: unknown): string | null {
  if (error === null || error === undefined) return null;
  if (typeof error === 'object' && 'message' in error && typeof error.message === 'string') {
    return error.message;
  }
  return JSON.stringify(error);
}

function whenText(job: JobSummary, now: number): string {
  if (job.lease !== null) return `lease ends ${relativeText(job.lease.expires_at, now)}`;
  if (job.dead !== null) return `dead ${relativeText(job.dead.since, now)}`;
  if (job.finished_at !== null) return `ended ${relativeText(job.finished_at, now)}`;
  return `due ${relativeText(job.due_at, now)}`;
}

function moreText({
  lease,
  dead,
  finished_by,
  reason,
  cancel_requested,
}: JobSummary): string | null {
  if (cancel_requested !== null) return `to be cancelled for ${cancel_requested.by}`;
  if (lease !== null) {
    return lease.progress === null ? lease.owner : `${lease.owner}: ${lease.progress}`;
  }
  if (dead !== null) return errorText(dead.error) ?? dead.reason;
  return reason ?? finished_by;
}
