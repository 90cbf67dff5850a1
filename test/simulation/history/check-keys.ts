import type pg from 'pg';
import type { ReportBuilder } from './report.ts';
import { streamRows } from './rows.ts';

interface KeyEventRow {
  readonly job_id: string;
  readonly type: string;
  readonly queue: string;
  readonly key: string;
  readonly key_seq: number | null;
  readonly room: number;
  readonly dead_block: boolean;
}

/** Whoever changes which jobs of a key are live holds the key's lock, or the job's row: so the log is in their order. */
const eventsOfKeys = (column: 'ordering_key' | 'dedup_key'): string =>
  `select e.job_id, e.type, j.queue, j.${column} as key, j.key_seq::float8 as key_seq,
     coalesce(q.key_concurrency, 1) as room, coalesce(q.on_dead, 'block') = 'block' as dead_block
   from leasehold.job_events e
   join leasehold.jobs j on j.id = e.job_id
   left join leasehold.queues q on q.name = j.queue
   where j.${column} is not null
     and e.type in ('created', 'unparked', 'claimed', 'completed', 'cancelled', 'dead', 'escalated', 'redriven', 'discarded')
   order by j.queue, j.${column}, e.id`;

/** One live job a dedup key. */
export async function checkDedupKeys(client: pg.ClientBase, report: ReportBuilder): Promise<void> {
  const live = new Set<string>();
  let key = '';
  for await (const event of streamRows<KeyEventRow>(client, eventsOfKeys('dedup_key'))) {
    const name = `${event.queue} / ${event.key}`;
    if (name !== key) live.clear();
    key = name;
    if (event.type !== 'created' && event.type !== 'redriven') {
      if (ENDS.has(event.type)) live.delete(event.job_id);
      continue;
    }
    const [other] = live;
    live.add(event.job_id);
    if (other !== undefined && other !== event.job_id) {
      report.fault('dedup_key', event.job_id, `live beside ${other}, both of ${name}`);
    }
  }
}

const ENDS = new Set(['completed', 'cancelled', 'dead', 'escalated', 'discarded']);

/** As many open jobs of an ordering key as it has room for, let go in their order, none past a dead one that blocks. */
export async function checkOrderingKeys(
  client: pg.ClientBase,
  report: ReportBuilder,
): Promise<void> {
  let name = '';
  let jobs = new Map<string, KeyedJob>();
  for await (const event of streamRows<KeyEventRow>(client, eventsOfKeys('ordering_key'))) {
    const its = `${event.queue} / ${event.key}`;
    if (its !== name) {
      checkStuck(jobs, name, report);
      jobs = new Map();
      name = its;
    }
    const fault = (text: string): void =>
      report.fault('ordering_key', event.job_id, `${text} (${name})`);
    step(jobs, event, fault);
  }
  checkStuck(jobs, name, report);
}

interface KeyedJob {
  readonly seq: number;
  readonly blocks: boolean;
  /** An escalated one holds its key as a dead one does. */
  state: 'parked' | 'open' | 'dead';
}

function step(
  jobs: Map<string, KeyedJob>,
  event: KeyEventRow,
  fault: (text: string) => void,
): void {
  const { job_id: id, type, key_seq: seq, room, dead_block: blocks } = event;
  const job = jobs.get(id);
  if (type === 'created' || type === 'redriven') {
    jobs.set(id, { seq: seq ?? 0, blocks, state: 'parked' });
  } else if (type === 'unparked' && job !== undefined) {
    const others = [...jobs.values()].filter((other) => other !== job);
    if (others.some(({ state, blocks: does }) => state === 'dead' && does))
      fault('goes past a dead job');
    const open = others.filter(({ state }) => state === 'open').length;
    if (open >= room) fault(`goes while ${open} of its key are open`);
    if (others.some(({ state, seq: its }) => state === 'parked' && its < job.seq))
      fault('goes before an older one');
    job.state = 'open';
  } else if (type === 'claimed' && job?.state === 'parked') {
    fault('claimed while its key held it back');
  } else if ((type === 'dead' || type === 'escalated') && job !== undefined) {
    job.state = 'dead';
  } else if (ENDS.has(type)) {
    jobs.delete(id);
  }
}

/** Somebody must be about to let a parked job go: an open one when it ends, or a person who settles a dead one. */
function checkStuck(
  jobs: ReadonlyMap<string, KeyedJob>,
  name: string,
  report: ReportBuilder,
): void {
  const all = [...jobs.entries()];
  const parked = all.find(([, { state }]) => state === 'parked');
  if (parked === undefined) return;
  if (all.some(([, { state, blocks }]) => state === 'open' || (state === 'dead' && blocks))) return;
  report.fault('ordering_key', parked[0], `parked for ever: nothing of ${name} is before it`);
}
