import { uuidv7 } from 'uuidv7';
import { migrate } from '../../infra/migrate.ts';
import type { SqlEndpoint } from '../../infra/local/sql-endpoint/endpoint.ts';
import type { Sql } from '../../shared/ports.ts';
import { claim } from '../../shared/queue/claim.ts';
import type { ClaimedJob } from '../../shared/queue/claimed-job.ts';
import { completeAndClaim } from '../../shared/queue/complete-and-claim.ts';
import { complete } from '../../shared/queue/complete.ts';
import { createHttpSql } from '../support/http-sql.ts';
import type { Bench, BenchResult } from './support/bench.ts';
import { interleave } from './support/rounds.ts';
import { ratio, spread } from './support/stats.ts';
import { leaseholdOn } from './support/systems/leasehold.ts';

const QUEUE = 'bench';
const OWNER = 'bench';
/** The delay at which the ratio is asked for. */
const TARGET_DELAY_MS = 10;
const FORMS = ['two calls', 'fused'] as const;
type Form = (typeof FORMS)[number];

interface Chain {
  readonly msPerJob: number;
  readonly requestsPerJob: number;
}

export const httpRoundTrips: Bench<{ delays: readonly number[]; jobs: number; repeats: number }> = {
  name: 'http-round-trips',
  summary: 'one worker over the /sql endpoint with time added to each request: two calls and fused',
  full: { delays: [2, 10, 40], jobs: 200, repeats: 3 },
  short: { delays: [2, 10, 40], jobs: 15, repeats: 3 },
  run: async ({ server, progress }, { delays, jobs, repeats }) => {
    const database = await server.database('http_round_trips');
    await migrate({ connectionString: database.url, log: () => undefined });
    const queue = leaseholdOn(database, 'two-call');
    const http = await createHttpSql({ sqlUrl: database.url });
    const chains = new Map<number, ReadonlyMap<string, readonly Chain[]>>();
    try {
      for (const delay of delays) {
        const variants = FORMS.map((form) => ({
          name: form,
          measure: async () => {
            await queue.fill(jobs + 1);
            http.endpoint.faults.next({ kind: 'delay', ms: delay }, { times: Infinity });
            try {
              return await chain(http, form, jobs);
            } finally {
              http.endpoint.faults.clear();
            }
          },
        }));
        const what = `${delay} ms added`;
        chains.set(delay, await interleave(variants, { repeats, warmUps: 1, progress, what }));
      }
    } finally {
      await http.close();
      await database.drop();
    }
    return report(chains);
  },
};

/** Works through `jobs` jobs one after another. The claim of the first one is not counted: a chain has it once. */
async function chain(
  { sql, endpoint }: { readonly sql: Sql; readonly endpoint: SqlEndpoint },
  form: Form,
  jobs: number,
): Promise<Chain> {
  let job = await claimOne(sql);
  const requests = endpoint.requests;
  const begun = performance.now();
  for (let done = 0; done < jobs; done += 1) {
    const lease = { jobId: job.jobId, owner: OWNER, fencingToken: job.fencingToken };
    if (form === 'two calls') {
      await complete(sql, lease);
      job = await claimOne(sql);
    } else {
      const end = await completeAndClaim(sql, { ...lease, queue: QUEUE, claimId: uuidv7() });
      job = taken(end.outcome === 'lease_lost' ? undefined : end.next);
    }
  }
  const ms = performance.now() - begun;
  const made = endpoint.requests - requests;
  await complete(sql, { jobId: job.jobId, owner: OWNER, fencingToken: job.fencingToken });
  return { msPerJob: ms / jobs, requestsPerJob: made / jobs };
}

async function claimOne(sql: Sql): Promise<ClaimedJob> {
  const found = await claim(sql, { queue: QUEUE, owner: OWNER, claimId: uuidv7() });
  return taken(found.outcome === 'claimed' ? found.job : undefined);
}

function taken(job: ClaimedJob | undefined): ClaimedJob {
  if (job === undefined) throw new Error('The backlog ran dry.');
  return job;
}

function report(chains: ReadonlyMap<number, ReadonlyMap<string, readonly Chain[]>>): BenchResult {
  const of = (delay: number, form: Form): readonly Chain[] => chains.get(delay)?.get(form) ?? [];
  const ms = (delay: number, form: Form): number =>
    spread(of(delay, form).map(({ msPerJob }) => msPerJob)).median;
  const requests = (form: Form): number =>
    spread([...chains.keys()].flatMap((delay) => of(delay, form).map((one) => one.requestsPerJob)))
      .max;
  const delays = [...chains.keys()];
  const target = delays.includes(TARGET_DELAY_MS) ? TARGET_DELAY_MS : (delays[0] ?? 0);
  return {
    tables: [
      {
        title: 'Milliseconds a job: median (min–max)',
        columns: ['added to a request', ...FORMS, 'two calls, times fused'],
        rows: delays.map((delay) => [
          `${delay} ms`,
          ...FORMS.map((form) => {
            const { median, min, max } = spread(of(delay, form).map(({ msPerJob }) => msPerJob));
            return `${median.toFixed(1)} (${min.toFixed(1)}–${max.toFixed(1)})`;
          }),
          ratio(ms(delay, 'two calls'), ms(delay, 'fused')),
        ]),
      },
      {
        title: 'Requests a job, counted at the endpoint',
        columns: FORMS,
        rows: [FORMS.map(requests)],
      },
    ],
    targets: [
      { name: 'requests a job, fused', measured: requests('fused'), bound: 1, kind: 'most' },
      {
        name: 'requests a job, two calls',
        measured: requests('two calls'),
        bound: 2,
        kind: 'most',
      },
      {
        name: `two calls, times fused, at ${target} ms added`,
        measured: ratio(ms(target, 'two calls'), ms(target, 'fused')),
        bound: 1.8,
        kind: 'least',
      },
    ],
    charts: [
      {
        kind: 'bar',
        title: 'Time of a job over HTTP, one worker, one job after another',
        description: `At ${target} ms added to a request, a job takes ${ms(target, 'two calls').toFixed(1)} ms with two calls and ${ms(target, 'fused').toFixed(1)} ms fused.`,
        x: { label: 'added to each request' },
        y: { label: 'milliseconds a job' },
        series: FORMS.map((form) => ({
          name: form,
          points: delays.map((delay) => ({ x: `${delay} ms`, y: ms(delay, form) })),
        })),
      },
    ],
  };
}
