import { uuidv7 } from 'uuidv7';
import { fillQueue } from '../sql/support/backlog.ts';
import { buffers, explained, nodes } from '../sql/support/explained.ts';
import { claimFaults, MAX_CLAIM_BUFFERS } from '../sql/support/plan-rules.ts';
import type { Experiment } from './experiment.ts';

const CALL = 'select * from leasehold.claim($1, $2, $3)';
const FILL_AT_ONCE = 100_000;

export const plans: Experiment = {
  name: 'plans',
  summary: `a claim at 1,000, 100,000 and 1,000,000 due jobs: plan nodes and pages (S3.5); --short: up to 50,000`,
  run: async ({ pool, short, print, progress }) => {
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
    return faults;
  },
};
