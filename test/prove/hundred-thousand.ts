import { raceThrough } from '../races/racing-claimers.ts';
import type { Experiment } from './experiment.ts';

const CLAIMERS = 16;

export const hundredThousand: Experiment = {
  name: 'hundred-thousand',
  summary: '100,000 jobs, 16 claimers: no duplicate claim, no lost job (S3.2); --short: 5,000',
  run: async ({ pool, sql, short, print, progress }) => {
    const jobs = short ? 5_000 : 100_000;
    const race = await raceThrough({
      sql,
      queue: 'hundred-thousand',
      jobs,
      claimers: CLAIMERS,
      onProgress: (done) => {
        if (done % 500 === 0) progress(`${done} of ${jobs} jobs done`);
      },
    });
    const { rows } = await pool.query<Record<string, number>>(
      `select
         (select count(*)::int from leasehold.job_state) as left_over,
         (select count(*)::int from leasehold.finished_jobs) as finished,
         (select count(*)::int from leasehold.attempts) as attempts,
         (select count(*)::int from leasehold.attempts where fencing_token <> 1) as claimed_again`,
    );
    const completed = new Set(race.completions);
    const facts = {
      jobs,
      claims: race.claims.length,
      'duplicate claims': race.claims.length - new Set(race.claims).size,
      completions: race.completions.length,
      'jobs lost': [...race.added].filter((id) => !completed.has(id)).length,
      'rows left over': rows[0]?.['left_over'] ?? -1,
      'rows finished': rows[0]?.['finished'] ?? -1,
      'jobs claimed again': rows[0]?.['claimed_again'] ?? -1,
    };
    for (const [what, count] of Object.entries(facts))
      print(`  ${String(count).padStart(8)}  ${what}`);
    const expected: Record<string, number> = {
      claims: jobs,
      completions: jobs,
      'rows finished': jobs,
      jobs,
    };
    return Object.entries(facts)
      .filter(([what, count]) => count !== (expected[what] ?? 0))
      .map(([what, count]) => `${what}: ${count}, expected ${expected[what] ?? 0}`);
  },
};
