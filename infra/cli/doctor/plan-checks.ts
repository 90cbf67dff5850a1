import type { DoctorDatabase, Query } from './database.ts';
import { sqlStateOf } from './database.ts';
import { fail, ok, skipped } from './finding.ts';
import type { Finding } from './finding.ts';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

const CHECK = 'database.plans';
const FORBIDDEN = '42501';

/** The statements that must stay index walks however deep a queue is, with the index that each walks. */
const WALKS: readonly (readonly [what: string, index: string, statement: string])[] = [
  [
    'a claim',
    'job_state_claim',
    `select s.due_at from leasehold.job_state s
     where s.queue = $1 and s.lane = 2 and s.due_at <= now() order by s.due_at limit 2`,
  ],
  [
    'the head of an ordering key',
    'job_state_ordering_key',
    `select s.job_id from leasehold.job_state s
     where s.queue = $1 and s.ordering_key = 'k' and s.lane = 9 order by s.key_seq limit 1`,
  ],
];

/** Settings of a routine that choose its plans; taken away by hand, a claim may begin to read whole tables. */
const PINNED = ['plan_cache_mode', 'enable_seqscan', 'enable_bitmapscan'];

/** Whether the hot statements still walk their indexes, under the settings of the routine itself. */
export async function checkPlans(database: DoctorDatabase): Promise<readonly Finding[]> {
  const settings = await claimSettings(database.query);
  const lost = PINNED.filter((name) => !settings.some(([known]) => known === name));
  if (lost.length > 0) {
    return [
      fail(CHECK, `leasehold.claim lost its settings ${lost.join(', ')}`, 'Run npm run migrate.'),
    ];
  }
  try {
    const wrong = await database.rolledBack(async (query) => {
      for (const [name, value] of settings) {
        await query('select set_config($1, $2, true)', [name, value]);
      }
      const faults: string[] = [];
      for (const walk of WALKS) faults.push(...(await faultsOf(query, walk)));
      return faults;
    });
    if (wrong.length === 0) return [ok(CHECK, 'claims walk their index, whatever the depth')];
    return [
      fail(CHECK, wrong.join('; '), 'See database.indexes, then: analyze leasehold.job_state;'),
    ];
  } catch (error) {
    if (sqlStateOf(error) !== FORBIDDEN) throw error;
    return [
      skipped(
        CHECK,
        'tables are closed to this user',
        'To check plans, connect as the owner of the schema.',
      ),
    ];
  }
}

async function claimSettings(query: Query): Promise<readonly (readonly [string, string])[]> {
  const rows = await query<{ setting: string }>(
    `select unnest(proconfig) as setting from pg_proc
     where pronamespace = 'leasehold'::regnamespace and proname = 'claim'`,
  );
  return rows
    .map(({ setting }) => setting.split('=', 2))
    .flatMap(([name, value]) =>
      name !== undefined && value !== undefined && name !== 'search_path'
        ? [[name, value] as const]
        : [],
    );
}

async function faultsOf(
  query: Query,
  [what, index, statement]: (typeof WALKS)[number],
): Promise<readonly string[]> {
  const [row] = await query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
    `explain (format json, generic_plan) ${statement}`,
  );
  const all = nodes(row?.['QUERY PLAN'][0]?.Plan);
  const scans = all.filter((node) => node['Node Type'].includes('Scan'));
  const others = scans.filter((node) => node['Index Name'] !== index);
  if (scans.length > 0 && others.length === 0 && !all.some((node) => node['Node Type'] === 'Sort'))
    return [];
  return [`${what} does not walk ${index}: ${all.map((node) => node['Node Type']).join(' over ')}`];
}

function nodes(plan: PlanNode | undefined): readonly PlanNode[] {
  return plan === undefined ? [] : [plan, ...(plan.Plans ?? []).flatMap((inner) => nodes(inner))];
}
