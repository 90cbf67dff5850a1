/** What people may do to jobs and queues, each with the words that say beforehand what will happen. */
import type { Board } from './board-state.ts';
import { plural, shortId } from './format.ts';
import type { JobSummary } from './wire.ts';

interface Settled {
  readonly settled: number;
  readonly jobs: readonly { readonly id: string; readonly outcome: string }[];
}

const REASON = { name: 'reason', label: 'Reason', required: true, lines: 2, max: 1000 } as const;

export function nameOfJob(job: JobSummary): string {
  return `${job.type} ${shortId(job.id)}`;
}

export function askPause(board: Board, queue: string): void {
  board.asked.set({
    title: `Pause ${queue}?`,
    effect: `No job of “${queue}” is claimed until it is resumed. Jobs that run now go on to their end; new ones are stored and wait.`,
    confirm: 'Pause the queue',
    fields: [
      { ...REASON, required: false, hint: 'Shown to everybody who wonders why nothing moves.' },
    ],
    async run({ reason }) {
      await board.api.send(
        'POST',
        `/v1/queues/${encodeURIComponent(queue)}/pause`,
        given({ reason }),
      );
      return `${queue} is paused.`;
    },
  });
}

export function askResume(board: Board, queue: string): void {
  board.asked.set({
    title: `Resume ${queue}?`,
    effect: `Jobs of “${queue}” that are due are claimed again, at once.`,
    confirm: 'Resume the queue',
    async run() {
      await board.api.send('POST', `/v1/queues/${encodeURIComponent(queue)}/resume`, {});
      return `${queue} goes on.`;
    },
  });
}

export function askCancel(board: Board, job: JobSummary): void {
  const runs = job.state === 'running';
  board.asked.set({
    title: `Cancel ${nameOfJob(job)}?`,
    effect: runs
      ? `${job.lease?.owner ?? 'Its holder'} is asked to stop and hears of it with the next heartbeat. If the work is done before that, the job ends as succeeded.`
      : 'The job ends as cancelled and will not run.',
    confirm: runs ? 'Ask it to stop' : 'Cancel the job',
    danger: true,
    fields: [{ ...REASON, required: false }],
    async run({ reason }) {
      const { outcome } = await board.api.send<{ readonly outcome: string }>(
        'POST',
        `/v1/jobs/${job.id}/cancel`,
        given({ reason }),
      );
      return outcome === 'cancelled' ? 'The job is cancelled.' : 'The holder is asked to stop.';
    },
  });
}

export function askRunNow(board: Board, job: JobSummary): void {
  board.asked.set({
    title: `Make ${nameOfJob(job)} due now?`,
    effect: 'It no longer waits for its time: the next claim of its queue may take it.',
    confirm: 'Make it due now',
    async run() {
      const now = new Date(board.clock.get()).toISOString();
      await board.api.send('PATCH', `/v1/jobs/${job.id}`, { due_at: now });
      return 'The job is due.';
    },
  });
}

export function askRedrive(board: Board, jobs: readonly JobSummary[], done?: () => void): void {
  const [first] = jobs;
  if (first === undefined) return;
  const one = jobs.length === 1;
  board.asked.set({
    title: one ? `Redrive ${nameOfJob(first)}?` : `Redrive ${plural(jobs.length, 'dead job')}?`,
    effect: `${one ? 'It goes' : 'They go'} back to ${queuesOf(jobs)} as the same ${one ? 'job' : 'jobs'}, with fresh attempts, and may run at once.`,
    confirm: one ? 'Redrive the job' : `Redrive ${plural(jobs.length, 'job')}`,
    fields: [{ ...REASON, hint: 'Kept in the log: what has changed, so that it works this time?' }],
    async run({ reason }) {
      const answer = await settle(board, 'redrive', jobs, reason);
      done?.();
      return told(answer, jobs.length, 'sent back');
    },
  });
}

export function askDiscard(board: Board, jobs: readonly JobSummary[], done?: () => void): void {
  const [first] = jobs;
  if (first === undefined) return;
  const one = jobs.length === 1;
  board.asked.set({
    title: one ? `Discard ${nameOfJob(first)}?` : `Discard ${plural(jobs.length, 'dead job')}?`,
    effect: `${one ? 'It is' : 'They are'} given up for good and will not run again. The history stays.`,
    confirm: one ? 'Discard the job' : `Discard ${plural(jobs.length, 'job')}`,
    danger: true,
    fields: [{ ...REASON, hint: 'Kept in the log.' }],
    async run({ reason }) {
      const answer = await settle(board, 'discard', jobs, reason);
      done?.();
      return told(answer, jobs.length, 'discarded');
    },
  });
}

export interface Filter {
  readonly queue?: string;
  readonly type?: string;
  readonly reason?: string;
}

/** First counts what the filter fits, then asks with that count; if it has changed meanwhile, nothing is done. */
export async function askMatching(
  board: Board,
  verb: 'redrive' | 'discard',
  filter: Filter,
): Promise<void> {
  const path = `/v1/dead-letters/${verb}-matching`;
  const look = await board.api.send<{ readonly count: number; readonly more: boolean }>(
    'POST',
    path,
    {
      filter,
      dry_run: true,
    },
  );
  const jobs = plural(look.count, 'dead job', 'dead jobs', look.more);
  if (look.count === 0) return board.notify('No dead job fits this filter.');
  if (look.more) {
    return board.notify(
      `More than ${jobs} fit. Narrow the filter: 1,000 are settled at a time.`,
      true,
    );
  }
  const redrives = verb === 'redrive';
  board.asked.set({
    title: `${redrives ? 'Redrive' : 'Discard'} all ${jobs} that fit?`,
    effect: `${describeFilter(filter)}: ${look.count === 1 ? 'the one job' : `all ${jobs}`} ${
      redrives ? 'with fresh attempts back to work' : 'given up for good'
    }. If the count has changed by then, nothing is done.`,
    confirm: `${redrives ? 'Redrive' : 'Discard'} ${plural(look.count, 'job')}`,
    danger: !redrives,
    fields: [{ ...REASON, hint: 'Kept in the log.' }],
    async run({ reason }) {
      const answer = await board.api.send<Settled>('POST', path, {
        filter,
        reason,
        expected_count: look.count,
      });
      return told(answer, look.count, redrives ? 'sent back' : 'discarded');
    },
  });
}

export function askAssign(
  board: Board,
  job: JobSummary,
  now: { readonly owner: string | null; readonly note: string | null },
): void {
  board.asked.set({
    title: `Who looks after ${nameOfJob(job)}?`,
    effect: 'Owner and note are shown beside the job, and kept in its history. Nothing runs.',
    confirm: 'Save',
    fields: [
      {
        name: 'owner',
        label: 'Owner',
        initial: now.owner ?? board.session.actor,
        max: 200,
        required: true,
      },
      { name: 'note', label: 'Note', initial: now.note ?? '', lines: 3, max: 4000 },
    ],
    async run({ owner, note }) {
      await board.api.send('PATCH', `/v1/dead-letters/${job.id}`, { owner, note: note ?? '' });
      return `${owner} looks after it.`;
    },
  });
}

async function settle(
  board: Board,
  verb: 'redrive' | 'discard',
  jobs: readonly JobSummary[],
  reason: string | undefined,
): Promise<Settled> {
  return await board.api.send<Settled>('POST', `/v1/dead-letters/${verb}`, {
    job_ids: jobs.map(({ id }) => id),
    reason,
  });
}

function told(answer: Settled, asked: number, done: string): string {
  const taken = answer.jobs.filter(({ outcome }) => outcome === 'dedup_key_taken').length;
  const left = asked - answer.settled - taken;
  return [
    `${plural(answer.settled, 'job')} ${done}.`,
    taken > 0 ? `${plural(taken, 'job')} kept: another live job has the dedup key.` : '',
    left > 0 ? `${plural(left, 'job')} no longer dead.` : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function queuesOf(jobs: readonly JobSummary[]): string {
  const names = [...new Set(jobs.map(({ queue }) => queue))];
  return names.length === 1 ? `“${names[0] ?? ''}”` : plural(names.length, 'queue');
}

function describeFilter({ queue, type, reason }: Filter): string {
  const parts = [
    queue === undefined ? '' : `queue “${queue}”`,
    type === undefined ? '' : `type “${type}”`,
    reason === undefined ? '' : `reason “${reason}”`,
  ].filter((part) => part !== '');
  const text = parts.join(', ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Without the fields that were left empty. */
export function given(
  values: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, value]],
    ),
  );
}
