/** `npm start -- --demo`: a few hundred jobs with real payloads, and live counts until they are done. */
import { setTimeout as pause } from 'node:timers/promises';
import { demoJobs, type DemoJob } from './demo-jobs.ts';

export interface DemoRun {
  /** Origin of the API. */
  readonly url: string;
  readonly token: string;
  readonly print: (line: string) => void;
  /** Ends the watching, not the jobs. */
  readonly signal: AbortSignal;
}

const QUEUE = 'reports';
const TYPE = 'report.csv';
/** The states that are asked for, last ones first: a job that moves meanwhile is missed, not counted twice. */
const STATES = ['succeeded', 'dead', 'running'] as const;
const BATCH_JOBS = 100;
const PAGE_SIZE = 200;
const LOOK_EVERY_MS = 1000;

type State = (typeof STATES)[number];
type Counts = Record<State, number>;

/** Enqueues the jobs and prints how they get on, once a second, until none is left to do. */
export async function runDemo(run: DemoRun): Promise<void> {
  const jobs = demoJobs(QUEUE, TYPE);
  run.print(
    `Demo: ${jobs.length} reports from real GitHub webhook payloads, into the queue "${QUEUE}".`,
  );
  const startedAt = performance.now();
  for (let from = 0; from < jobs.length; from += BATCH_JOBS) {
    await call(run, '/v1/jobs/batch', { jobs: jobs.slice(from, from + BATCH_JOBS) });
  }
  const ids = new Set(jobs.map(({ id }) => id));
  for (;;) {
    const counts = await countStates(run, ids);
    const pending = jobs.length - counts.running - counts.succeeded - counts.dead;
    const { running, succeeded, dead } = counts;
    run.print(line({ pending, running, succeeded, dead }));
    if (counts.succeeded + counts.dead === jobs.length) break;
    await pause(LOOK_EVERY_MS, undefined, { signal: run.signal });
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  run.print(`Demo: done in ${seconds} s. One of them, with its CSV as the result:`);
  run.print(
    `\n  curl -sS ${run.url}/v1/jobs/${firstOf(jobs)} -H 'authorization: Bearer ${run.token}'\n`,
  );
}

function line(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([state, count]) => `${state} ${String(count).padStart(3)}`)
    .join('   ');
}

function firstOf(jobs: readonly DemoJob[]): string {
  return jobs[0]?.id ?? '';
}

async function countStates(run: DemoRun, ids: ReadonlySet<string>): Promise<Counts> {
  const counts: Counts = { running: 0, succeeded: 0, dead: 0 };
  for (const state of STATES) counts[state] = await countState(run, ids, state);
  return counts;
}

/** Jobs are listed newest first, so a page that holds none of ours is past them. */
async function countState(run: DemoRun, ids: ReadonlySet<string>, state: State): Promise<number> {
  let count = 0;
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({ queue: QUEUE, state, limit: String(PAGE_SIZE) });
    if (cursor !== null) query.set('cursor', cursor);
    const page = (await call(run, `/v1/jobs?${query.toString()}`)) as {
      readonly jobs: readonly { readonly id: string }[];
      readonly next_cursor: string | null;
    };
    const ours = page.jobs.filter(({ id }) => ids.has(id)).length;
    count += ours;
    cursor = ours === 0 ? null : page.next_cursor;
  } while (cursor !== null);
  return count;
}

/** GET, or POST when there is a body. */
async function call(run: DemoRun, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${run.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${run.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: run.signal,
  });
  if (!response.ok) {
    throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  }
  return response.json();
}
