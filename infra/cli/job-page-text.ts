import type { Job, JobAttempt } from '../../shared/queue/job.ts';
import type { Cli } from './cli.ts';
import { errorText } from './job-columns.ts';
import { paintState } from './paint.ts';
import { printable, printableJson } from './printable.ts';
import { durationText, relativeText } from './time-text.ts';
import { facts, table } from './table.ts';
import type { Column } from './table.ts';

const JSON_INDENT = 2;

/**
 * Everything about one job for a person.
 *
 * @param withPayload payload, headers and result may be private, so they are shown only when asked for
 */
export function jobText(cli: Cli, job: Job, withPayload: boolean): string {
  const { terminal, paint } = cli;
  const when = (instant: string | null | undefined): string | undefined =>
    instant === null || instant === undefined
      ? undefined
      : `${instant} (${relativeText(instant, terminal.now())})`;
  const given = (text: string | null | undefined): string | undefined => text ?? undefined;
  const { lease, escalated, cancel_requested: cancel } = job;
  const aside = job.dead ?? escalated;
  const head = facts([
    ['id', job.id],
    ['queue', job.queue],
    ['type', job.type],
    ['waits for', given(job.waiting_for)],
    ['priority', job.priority],
    ['attempt', `${job.attempt} of ${job.max_attempts}`],
    ['due', when(job.due_at)],
    ['created', `${when(job.created_at)} by ${job.created_by}`],
    ['ordering key', given(job.ordering_key)],
    ['dedup key', given(job.dedup_key)],
    ['tags', job.tags.length === 0 ? undefined : job.tags.join(', ')],
    ['redrives', job.redrives === null || job.redrives === 0 ? undefined : job.redrives],
    ['leased by', given(lease?.owner)],
    ['lease ends', when(lease?.expires_at)],
    ['progress', given(lease?.progress)],
    ['cancel asked', cancel === null ? undefined : `${when(cancel.at)} by ${cancel.by}`],
    ['ended', when(job.finished_at)],
    ['ended by', given(job.finished_by)],
    ['reason', job.reason ?? aside?.reason],
    ['error', errorText(aside?.error) ?? undefined],
    [`${job.state} since`, when(aside?.since)],
    ['owner', given(aside?.owner)],
    ['note', given(aside?.note ?? job.note)],
    ['held by', given(escalated?.held_by)],
    ['held until', when(escalated?.held_until)],
    ['no result', given(job.result_problem)],
  ]);
  const state = `${paint(printable(job.type), 'bold')}  ${paintState(paint, job.state, printable(job.state))}\n\n`;
  return [state, head, attemptsText(cli, job), effectsText(job), bodyText(job, withPayload)].join(
    '',
  );
}

function attemptsText({ terminal }: Cli, { attempts }: Job): string {
  if (attempts.length === 0) return '';
  const columns: readonly Column<JobAttempt>[] = [
    { title: '#', value: ({ attempt }) => attempt },
    { title: 'OUTCOME', value: ({ outcome }) => outcome },
    { title: 'OWNER', value: ({ owner }) => owner, mayShrink: true },
    { title: 'STARTED', value: ({ started_at }) => started_at },
    {
      title: 'TOOK',
      value: ({ started_at, ended_at }) =>
        durationText(Date.parse(ended_at) - Date.parse(started_at)),
    },
    { title: 'CLASS', value: ({ failure_class }) => failure_class },
    { title: 'ERROR', value: ({ error }) => errorText(error), mayShrink: true },
  ];
  return `\nAttempts\n${table(columns, attempts, terminal.columns)}`;
}

function effectsText({ effects }: Job): string {
  if (effects.length === 0) return '';
  const columns: readonly Column<Job['effects'][number]>[] = [
    { title: 'EFFECT', value: ({ key }) => key },
    { title: 'STATE', value: ({ state }) => state },
    { title: 'STARTED', value: ({ started_at }) => started_at },
    { title: 'SETTLED BY', value: ({ settled_by }) => settled_by },
  ];
  return `\n${table(columns, effects, undefined)}`;
}

function bodyText(job: Job, withPayload: boolean): string {
  if (!withPayload) {
    const kinds = ['payload', 'headers', ...(job.result === null ? [] : ['result'])];
    return `\nNot shown: ${kinds.join(', ')} (--payload shows them)\n`;
  }
  const parts = { payload: job.payload, headers: job.headers, result: job.result };
  return Object.entries(parts)
    .map(([name, value]) => `\n${name}\n${printableJson(value, JSON_INDENT)}\n`)
    .join('');
}
