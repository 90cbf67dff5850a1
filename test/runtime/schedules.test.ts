/** Schedules in the deployed bundle: the cron event fires and runs them, in several Workers at once and after one was killed. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDeployment, type DeployedWorker, type Deployment } from '../support/deployment.ts';

const SCHEDULE = {
  cron: '* * * * *',
  zone: 'America/New_York',
  queue: 'reports',
  type: 'report.csv',
  payload: { rows: [{ city: 'Oslo', visits: 7 }] },
  missed: 'all',
};
const NAMES = ['one', 'two', 'three', 'four'];
const MINUTES = 5;

let deployment: Deployment;

beforeEach(async () => {
  deployment = await createDeployment();
});

afterEach(() => deployment.close());

async function put(worker: DeployedWorker, name: string, bent: object = {}): Promise<Response> {
  const body = JSON.stringify({ ...SCHEDULE, ...bent });
  return await worker.request(`/v1/schedules/${name}`, { method: 'PUT', body });
}

/** As if nothing had ticked for some minutes. */
async function ticksStopped(): Promise<void> {
  await deployment.database.pool.query(
    `update leasehold.schedules
     set decided_until = clock_timestamp() - make_interval(mins => $1),
       next_slot_at = clock_timestamp() - make_interval(mins => $1) + interval '1 millisecond'`,
    [MINUTES],
  );
}

/** Per schedule: how many minutes its slots span, how many there are, and how many of their jobs succeeded. */
async function outcome(): Promise<{ span: number; slots: number; done: number }[]> {
  const { rows } = await deployment.database.pool.query<{
    span: number;
    slots: number;
    done: number;
  }>(
    `select (extract(epoch from max(l.slot_at) - min(l.slot_at)) / 60 + 1)::int as span,
       count(*)::int as slots,
       count(f.job_id)::int as done
     from leasehold.schedule_slots l
     left join leasehold.finished_jobs f on f.job_id = l.job_id and f.state = 'succeeded'
     group by l.schedule`,
  );
  return rows;
}

/** Ticks until every slot's job is done, and says how that came about. */
async function finish(worker: DeployedWorker): Promise<Finished> {
  let all = await outcome();
  for (let ticks = 0; all.some(({ slots, done }) => slots > done) || ticks === 0; ticks += 1) {
    if (ticks > 20) throw new Error('the jobs of the slots do not end');
    await worker.runCron();
    all = await outcome();
  }
  const { rows } = await deployment.database.pool.query<{ attempts: number; slots: number }>(
    `select (select count(*)::int from leasehold.attempts) as attempts,
       (select count(*)::int from leasehold.schedule_slots) as slots`,
  );
  return {
    schedules: all.length,
    unbroken: all.every(({ span, slots }) => span === slots && slots >= MINUTES),
    oneAttemptEach: rows[0]?.attempts === rows[0]?.slots,
  };
}

interface Finished {
  readonly schedules: number;
  /** No slot lost and none twice. */
  readonly unbroken: boolean;
  readonly oneAttemptEach: boolean;
}

const ALL_ONCE: Finished = { schedules: NAMES.length, unbroken: true, oneAttemptEach: true };

describe('schedules in workerd', () => {
  test('case H3 the zones and times of this runtime: what is refused, what is not', async () => {
    const worker = await deployment.start();
    expect((await put(worker, 'a', { zone: 'EST5' })).status).toBe(400);
    expect((await put(worker, 'a', { zone: 'Mars/Base' })).status).toBe(400);
    expect((await put(worker, 'a', { cron: '0 0 30 2 *' })).status).toBe(400);
    const answer = await put(worker, 'a', { cron: '30 2 * * *', zone: 'Australia/Lord_Howe' });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ zone: 'Australia/Lord_Howe' });
  });

  test('case H5 two Workers tick at once: every slot once, and every job runs once', async () => {
    const workers = [await deployment.start(), await deployment.start()] as const;
    for (const name of NAMES) await put(workers[0], name);
    await ticksStopped();
    await Promise.all(workers.map((worker) => worker.runCron()));
    expect(await finish(workers[0])).toEqual(ALL_ONCE);
  });

  test('case R30 case H5 a Worker is killed in the middle of its tick: the next tick does the rest', async () => {
    const doomed = await deployment.start();
    const heir = await deployment.start();
    for (const name of NAMES) await put(doomed, name);
    await ticksStopped();
    const slow = deployment.endpoint.faults.next(
      { kind: 'delay', ms: 5000 },
      { match: /fire_schedule/, times: 2 },
    );
    const ticking = doomed.runCron().catch(() => undefined);
    await slow.fired;
    await doomed.kill();
    await ticking;
    deployment.endpoint.faults.clear();
    expect(await finish(heir)).toEqual(ALL_ONCE);
  });
});
