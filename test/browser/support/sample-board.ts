import { createAgent, type Agent, type HeldJob } from './agent.ts';
import type { BoardHarness } from './board-harness.ts';

/** Ids of jobs on the sample board. */
export interface SampleBoard {
  readonly running: string;
  readonly retried: string;
  readonly dead: string;
  readonly escalated: string;
  readonly asked: string;
  /** What was so a moment before the last deeds. */
  readonly before: Date;
  /** Lets agents do a few things, so that there is something to see. */
  stir(): Promise<void>;
}

const QUICK = { backoff_base_ms: 0, backoff_cap_ms: 0 };

/** A board with a little of everything on it, as a working day leaves it. */
export async function fillBoard(harness: BoardHarness): Promise<SampleBoard> {
  const agent = await createAgent(harness, 'agent-7');
  const other = await createAgent(harness, 'agent-12');
  const put = async (queue: string, settings: object): Promise<unknown> =>
    await agent.call('PUT', `/v1/queues/${queue}`, settings);
  await put('refunds', { ...QUICK, on_exhausted: 'escalate', delivery: 'pull' });
  await put('emails', { ...QUICK, max_attempts: 2, max_unknown_attempts: 2 });
  await put('invoices', { ...QUICK, delivery: 'pull' });
  await put('imports', { ...QUICK, delivery: 'pull' });
  await pastHour(harness, agent);

  const add = async (queue: string, type: string, more: object = {}): Promise<string> => {
    const job = { queue, type, payload: { order: 4711, to: 'maria@example.com' }, ...more };
    return ((await agent.call('POST', '/v1/jobs', job)) as { readonly id: string }).id;
  };
  const dead = await add('emails', 'email.welcome', { tags: ['customer-88'] });
  await failed(agent, 'emails', 2, 'smtp_550', 'mailbox unavailable: <maria@example.com>');
  for (const order of [4712, 4713, 4714]) {
    await add('emails', 'email.receipt', { payload: { order } });
    await failed(agent, 'emails', 2, 'template_missing', 'no template “receipt” in language “pt”');
  }
  const escalated = await add('refunds', 'refund.check', { ordering_key: 'customer-88' });
  await failed(agent, 'refunds', 3, 'amount_differs', 'invoice says 120.00, order says 99.90');
  const asked = await add('refunds', 'refund.approve');
  const question = 'The customer asks for 740 €, above my limit of 500 €. May I approve it?';
  await (await other.claim('refunds')).ask(question);

  const retried = await add('invoices', 'invoice.render');
  await failed(agent, 'invoices', 1, 'font_missing', 'font “Inter” could not be loaded');
  await add('invoices', 'invoice.render', { priority: 'high' });
  await add('invoices', 'invoice.archive', { delay_seconds: 5400 });
  for (let at = 0; at < 6; at += 1) await add('imports', 'import.products', { tags: ['nightly'] });
  const before = new Date();
  const running = await work(agent, 'imports', '3,200 of 8,000 products');
  const busy = await work(other, 'imports', 'reading the catalogue');
  await agent.call('POST', '/v1/queues/emails/pause', { reason: 'the mail provider is down' });
  await agent.call('PUT', '/v1/schedules/nightly-import', {
    cron: '15 3 * * *',
    zone: 'Europe/Lisbon',
    queue: 'imports',
    type: 'import.products',
    payload: {},
  });
  let pages = 0;
  const stir = async (): Promise<void> => {
    await busy.progress(`page ${(pages += 1)} of 60`);
    await add('invoices', 'invoice.archive', { delay_seconds: 5400 });
    await busy.progress(`page ${(pages += 1)} of 60`);
  };
  // Ages as of a working day: the log cannot be changed, so only what is not in it.
  const { pool } = harness.deployment.database;
  await pool.query(`
    update leasehold.job_state set due_at = due_at - interval '14 minutes' where queue = 'invoices' and lane = 3;
    update leasehold.job_state set due_at = due_at - interval '130 seconds' where queue = 'imports' and lane between 1 and 4;
    update leasehold.dead_letters set dead_at = dead_at - interval '5 hours' where state = 'dead';
    update leasehold.dead_letters set dead_at = dead_at - interval '26 minutes' where state = 'escalated';
  `);
  return { running: running.id, retried, dead, escalated, asked, before, stir };
}

async function work(agent: Agent, queue: string, marker: string): Promise<HeldJob> {
  const job = await agent.claim(queue, 600);
  await job.progress(marker);
  return job;
}

async function failed(
  agent: Agent,
  queue: string,
  times: number,
  code: string,
  message: string,
): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await (await agent.claim(queue)).fail(code, message);
  }
}

/** An hour of attempts in the log: written as its owner may, oldest first. */
async function pastHour(harness: BoardHarness, agent: Agent): Promise<void> {
  const busy = { emails: 9, imports: 14, invoices: 5, refunds: 2 };
  const jobs: string[] = [];
  for (const queue of Object.keys(busy)) {
    const job = { queue, type: 'first.of.day', payload: {} };
    jobs.push(((await agent.call('POST', '/v1/jobs', job)) as { readonly id: string }).id);
    await (await agent.claim(queue)).complete();
  }
  await harness.deployment.database.pool.query(
    `insert into leasehold.job_events (job_id, at, type, actor, fencing_token)
     select b.job_id, now() - make_interval(mins => 55 - minute),
       case when (minute * 7 + n * 5) % 31 = 0 then 'failed' else 'completed' end, 'agent-7', 1
     from generate_series(1, 54) minute
     cross join unnest($1::uuid[], $2::int[]) b (job_id, jobs)
     cross join lateral generate_series(1, b.jobs) n
     where (minute * 5 + n * 3) % 11 < 5 + (minute / 12)
     order by minute`,
    [jobs, Object.values(busy)],
  );
}
