import { uuidv7 } from 'uuidv7';
import { fillQueue } from '../sql/support/backlog.ts';
import { buffers, explained, nodes } from '../sql/support/explained.ts';
import { claimFaults, MAX_CLAIM_BUFFERS } from '../sql/support/plan-rules.ts';
import { measureJobCosts, STAGES, type JobCost } from '../sql/support/job-cost.ts';
import type { Experiment, Lab } from './experiment.ts';

const CALL = 'select * from leasehold.claim($1, $2, $3)';
const FILL_AT_ONCE = 100_000;

export const plans: Experiment = {
  name: 'plans',
  summary: `a claim at 1,000, 100,000 and 1,000,000 due jobs: plan nodes and pages (S3.5), and what a job costs; --short: up to 50,000`,
  run: async (lab) => {
    const { pool, short, print, progress } = lab;
    const faults: string[] = [];
    const client = await pool.connect();
    print(`  ${'due jobs'.padStart(9)}  pages  plan nodes on the live table`);
    try {
      let total = 0;
      for (const depth of short ? [1_000, 50_000] : [1_000, 100_000, 1_000_000]) {
        while (total < depth) {
          const more = Math.min(FILL_AT_ONCE, depth - total);
          await fillQueue(pool, 'deep', more);
          total += more;
          progress(`${total} of ${depth} jobs added`);
        }
        for (let i = 0; i < 3; i += 1) await explained(client, CALL, ['deep', 'warm-up', uuidv7()]);
        const statements = await explained(client, CALL, ['deep', 'worker', uuidv7()]);
        const outer = statements.at(-1);
        const scans = statements
          .flatMap((one) => nodes(one.plan))
          .filter((node) => node['Relation Name'] === 'job_state' && /Scan/.test(node['Node Type']))
          .map((node) => `${node['Node Type']} on ${node['Index Name'] ?? '?'}`);
        const distinct = [...new Set(scans)].map(
          (scan) => `${scans.filter((other) => other === scan).length} x ${scan}`,
        );
        const pages = outer === undefined ? 0 : buffers(outer.plan);
        print(
          `  ${String(depth).padStart(9)}  ${String(pages).padStart(5)}  ${distinct.join(', ')}`,
        );
        faults.push(...claimFaults(statements).map((fault) => `${depth} jobs: ${fault}`));
      }
      print(
        `  bound: ${MAX_CLAIM_BUFFERS} pages, no sort, no bitmap, no sequential scan, no row read and dropped`,
      );
    } finally {
      client.release();
    }
    await printJobCosts(lab);
    return faults;
  },
};

/** The same figures that test/sql/job-cost.test.ts holds to their bounds. */
async function printJobCosts({ pool, print }: Lab): Promise<void> {
  const costs = await measureJobCosts(pool);
  const row = (what: string, cost: JobCost): void =>
    print(
      `  ${what.padEnd(34)}${decimals(cost.roundTrips, 3).padStart(11)}${decimals(cost.commits, 3).padStart(9)}` +
        `${String(cost.walBytes).padStart(11)}${decimals(cost.indexEntries, 1).padStart(15)}${decimals(cost.pages, 1).padStart(7)}`,
    );
  print('');
  print(
    '  what a job costs                  round trips  commits  WAL bytes  index entries  pages',
  );
  for (const stage of STAGES) row(stage, costs[stage]);
  row('claim, then complete', sum(costs.claim, costs.complete));
  const { 'enqueue, one a call': one, 'enqueue, 1,000 a call': many } = costs;
  row('a life, each step by itself', sum(one, sum(costs.claim, costs.complete)));
  row('a life, batched and fused', sum(many, costs['complete and claim']));
  print('  WAL without full-page images, with the commit records; payload of 49 bytes, no keys');
}

function sum(a: JobCost, b: JobCost): JobCost {
  return {
    roundTrips: a.roundTrips + b.roundTrips,
    commits: a.commits + b.commits,
    walBytes: a.walBytes + b.walBytes,
    indexEntries: a.indexEntries + b.indexEntries,
    pages: a.pages + b.pages,
  };
}

function decimals(value: number, digits: number): string {
  return Number(value.toFixed(digits)).toString();
}
