import { durationText } from '../time-text.ts';
import type { DoctorDatabase } from './database.ts';
import { clockFinding } from './clock.ts';
import { ok, warn } from './finding.ts';
import type { Finding } from './finding.ts';
import { checkTick } from './tick-check.ts';

const LONG_WAIT_MS = 10 * 60 * 1000;
const MAX_QUEUES = 20;
const COUNTED = 1000;

/** The clocks of database and machine. */
export async function checkDatabaseClock(
  { query }: DoctorDatabase,
  now: () => number,
): Promise<readonly Finding[]> {
  const before = now();
  const [row] = await query<{ at: Date }>('select clock_timestamp() as at');
  const after = now();
  const middle = (before + after) / 2;
  const ahead = (row?.at.getTime() ?? middle) - middle;
  return [clockFinding('database.clock', 'the database', ahead, (after - before) / 2)];
}

/** Whether due work is taken, and scheduled passes run. */
export async function checkWork({ query }: DoctorDatabase): Promise<readonly Finding[]> {
  const [tick] = await query<{ at: Date | null; now: Date }>(
    `select leasehold.last_turn('tick') as at, clock_timestamp() as now`,
  );
  const nowMs = tick?.now.getTime() ?? 0;
  const queues = await query<{ queue: string; due: number; oldest_due_at: Date; delivery: string }>(
    'select queue, due, oldest_due_at, delivery from leasehold.due_queues($1, $2)',
    [MAX_QUEUES, COUNTED],
  );
  const waiting = queues.filter(({ oldest_due_at: at }) => nowMs - at.getTime() > LONG_WAIT_MS);
  return [
    checkTick('database.tick', tick?.at?.toISOString() ?? null, nowMs),
    ...(waiting.length === 0
      ? [ok('database.due_work', `no job has been due for more than ${durationText(LONG_WAIT_MS)}`)]
      : waiting.map(({ queue, due, oldest_due_at: at, delivery }) =>
          warn(
            'database.due_work',
            `queue ${queue}: ${due >= COUNTED ? `${COUNTED} or more` : due} due, the oldest for ${durationText(nowMs - at.getTime())}`,
            takerOf(queue, delivery),
          ),
        )),
  ];
}

function takerOf(queue: string, delivery: string): string {
  if (delivery === 'push') return `See whether its target answers: leasehold queues get '${queue}'`;
  if (delivery === 'pull')
    return 'See that its workers run, and that its limits let them take more.';
  return 'See that a handler for it is registered, that pokes arrive, and that its limits let it take more.';
}
