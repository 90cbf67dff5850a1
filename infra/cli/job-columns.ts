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

/** How lists show a dead or escalated job: since when and why come first. */
export function setAsideColumns(
  { terminal, paint }: Cli,
  state: 'dead' | 'escalated',
): readonly Column<JobSummary>[] {
  return [
    { title: 'ID', value: ({ id }) => id },
    {
      title: 'SINCE',
      value: (job) => sinceText(job[state]?.since, terminal.now()),
    },
    { title: 'QUEUE', value: ({ queue }) => queue, mayShrink: true },
    { title: 'TYPE', value: ({ type }) => type, mayShrink: true },
    {
      title: 'REASON',
      value: (job) => job[state]?.reason,
      paint: (cell) => paintState(paint, state, cell),
    },
    { title: 'OWNER', value: (job) => job[state]?.owner, mayShrink: true },
    ...(state === 'dead'
      ? []
      : [
          {
            title: 'HELD BY',
            value: ({ escalated }: JobSummary) => escalated?.held_by,
            mayShrink: true,
          },
        ]),
    { title: 'ERROR', value: (job) => errorText(job[state]?.error), mayShrink: true },
  ];
}

function sinceText(since: string | undefined, now: number): string | null {
  return since === undefined ? null : relativeText(since, now);
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
  if (job.escalated !== null) return `escalated ${relativeText(job.escalated.since, now)}`;
  if (job.finished_at !== null) return `ended ${relativeText(job.finished_at, now)}`;
  return `due ${relativeText(job.due_at, now)}`;
}

function moreText(job: JobSummary): string | null {
  const { lease, finished_by, reason, cancel_requested } = job;
  if (cancel_requested !== null) return `to be cancelled for ${cancel_requested.by}`;
  if (lease !== null) {
    return lease.progress === null ? lease.owner : `${lease.owner}: ${lease.progress}`;
  }
  const aside = job.dead ?? job.escalated;
  if (aside !== null) return errorText(aside.error) ?? aside.reason;
  return reason ?? finished_by;
}
