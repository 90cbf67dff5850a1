import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { MEASURES, type Measure, type Sample } from '../../shared/metrics/measures.ts';
import { samplesOf } from '../../shared/metrics/samples.ts';
import type { Metrics, QueueMetrics } from '../../shared/queue/metrics.ts';
import { firingAlerts, NO_PROMTOOL, promtool, promtoolBinary } from './support/promtool.ts';
import { READ_AT, secondsBefore, someMetrics, someQueue } from './support/some-metrics.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string; readonly description: string };
}

const RULES_FILE = resolve('infra/alerts/leasehold.yaml');
const { groups } = parse(readFileSync(RULES_FILE, 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
};
const RULES = groups.flatMap(({ rules }) => rules);
const ALERTS = RULES.map(({ alert }) => alert);

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string; readonly legendFormat?: string }[];
  }[];
}
const DASHBOARD = JSON.parse(readFileSync('infra/dashboards/leasehold.json', 'utf8')) as Dashboard;
const TARGETS = DASHBOARD.panels.flatMap(({ title, targets = [] }) =>
  targets.map((target) => ({ ...target, title })),
);

const measures: Readonly<Record<string, Measure>> = MEASURES;

/** What an expression asks of a measure that there is not: its name, or a label of it. */
function faultsOf(expression: string): string[] {
  const found = [...expression.matchAll(/\b(leasehold_\w+)(?:\{([^}]*)\})?/g)];
  if (found.length === 0) return [`${expression} asks for no measure`];
  return found.flatMap(([, name = '', matchers = '']) => {
    const measure = measures[name];
    if (measure === undefined) return [`${name} is no measure`];
    const labels = [...matchers.matchAll(/(\w+)\s*(?:=~?|!=|!~)\s*"/g)].map(([, label]) => label);
    return labels
      .filter((label) => label === undefined || !measure.labels.includes(label))
      .map((label) => `${name} has no label ${label}`);
  });
}

describe('S1.19 alerts and dashboard ask for what there is', () => {
  test.each(RULES)('$alert', ({ expr, annotations }) => {
    expect(faultsOf(expr)).toEqual([]);
    const [, name = ''] = /(leasehold_\w+)/.exec(expr) ?? [];
    const shown = `${annotations.summary} ${annotations.description}`;
    const labels = [...shown.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
    expect(labels.filter((label) => !measures[name]?.labels.includes(label ?? ''))).toEqual([]);
    expect(faultsOf(`leasehold_jobs ${shown}`)).toEqual([]);
  });

  test.each(TARGETS)('$title: $expr', ({ expr, legendFormat = '' }) => {
    expect(faultsOf(expr)).toEqual([]);
    const [, name = ''] = /(leasehold_\w+)/.exec(expr) ?? [];
    const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
    expect(labels.filter((label) => !measures[name]?.labels.includes(label ?? ''))).toEqual([]);
  });

  test('every measure of a queue is on the dashboard', () => {
    const shown = TARGETS.map(({ expr }) => expr).join(' ');
    const missing = Object.entries(measures)
      .filter(([name, { labels }]) => labels.includes('queue') && !shown.includes(name))
      .map(([name]) => name);
    expect(missing).toEqual([]);
  });
});

const worldOf = (queue: Partial<QueueMetrics>, more: Partial<Metrics> = {}): readonly Sample[] =>
  samplesOf(
    someMetrics({
      queues: [someQueue(queue)],
      // Hours of the test begin with the epoch: a tick that was just now is one at their end.
      last_tick_at: new Date(4 * 3_600_000).toISOString(),
      ...more,
    }),
    READ_AT,
  );
const recent = (p95: number): Metrics['recent'] => ({
  from: secondsBefore(300),
  queues: {
    emails: {
      transitions: {},
      claim_ms: { count: 9, p50: 1, p95, p99: p95 },
      run_ms: null,
      total_ms: null,
      retries: [],
    },
  },
});
const lost = (kind: string): Pick<Metrics, 'lost'> => ({
  lost: [{ queue: 'emails', kind, count: 1 }],
});
const database = (more: Partial<Metrics['database']>): Pick<Metrics, 'database'> => ({
  database: { ...someMetrics().database, ...more },
});
const outbox = (more: Partial<Metrics['outbox']>): Pick<Metrics, 'outbox'> => ({
  outbox: { ...someMetrics().outbox, ...more },
});
const ago = secondsBefore;

/** For each rule a world in which it alone fires, and one a little better in which nothing does. */
const WORLDS: readonly [alert: string, worse: readonly Sample[], better: readonly Sample[]][] = [
  [
    'LeaseholdQueueWaits',
    worldOf({ first_due_at: ago(301) }),
    worldOf({ first_due_at: ago(300), due: 1000 }),
  ],
  [
    'LeaseholdExpiredLeaseWaits',
    worldOf({ first_lease_end_at: ago(121) }),
    worldOf({ first_lease_end_at: ago(120) }),
  ],
  [
    'LeaseholdDeadJobWaits',
    worldOf({ oldest_dead_at: ago(86_401) }),
    worldOf({ oldest_dead_at: ago(86_400), dead: 1000 }),
  ],
  [
    'LeaseholdEscalationWaits',
    worldOf({ oldest_escalated_at: ago(14_401) }),
    worldOf({ oldest_escalated_at: ago(14_400) }),
  ],
  [
    'LeaseholdClaimsLate',
    worldOf({}, { recent: recent(60_001) }),
    worldOf({}, { recent: recent(60_000) }),
  ],
  [
    'LeaseholdQueueSaturated',
    worldOf({ concurrency_limit: 2, running: 2, first_due_at: ago(61) }),
    worldOf({ concurrency_limit: 2, running: 2, first_due_at: ago(60) }),
  ],
  [
    'LeaseholdHeartbeatsMissing',
    worldOf({ close_to_expiry: 1 }),
    worldOf({ close_to_expiry: 0, running: 9 }),
  ],
  ['LeaseholdWorkDoneTwice', worldOf({}, lost('complete')), worldOf({}, lost('heartbeat'))],
  ['LeaseholdTargetRests', worldOf({ resting: true }), worldOf({ resting: false })],
  ['LeaseholdClaimQuerySlow', worldOf({ peek_ms: 51 }), worldOf({ peek_ms: 50 })],
  [
    'LeaseholdLockWaits',
    worldOf({}, database({ lock_waits: 11 })),
    worldOf({}, database({ lock_waits: 10 })),
  ],
  [
    'LeaseholdConnectionsNearLimit',
    worldOf({}, database({ connections: 81 })),
    worldOf({}, database({ connections: 80 })),
  ],
  [
    'LeaseholdEventsUnpublished',
    worldOf({}, outbox({ oldest_unpublished_at: ago(301) })),
    worldOf({}, outbox({ oldest_unpublished_at: ago(300) })),
  ],
  [
    'LeaseholdEventQuarantined',
    worldOf({}, outbox({ oldest_quarantined_at: ago(3601) })),
    worldOf({}, outbox({ oldest_quarantined_at: ago(3600) })),
  ],
  [
    'LeaseholdTicksStopped',
    worldOf({}, { last_tick_at: new Date(0).toISOString() }),
    worldOf({}, { last_tick_at: new Date(2 * 3_600_000).toISOString() }),
  ],
  ['LeaseholdMetricsMissing', [], worldOf({})],
];

const found = promtoolBinary() !== undefined;
describe.runIf(found)(
  `rules in Prometheus's own engine${found ? '' : ` (left out: ${NO_PROMTOOL})`}`,
  () => {
    let firing: Readonly<Record<string, readonly string[]>>;
    beforeAll(async () => {
      firing = await firingAlerts(RULES_FILE, ALERTS, {
        ...Object.fromEntries(WORLDS.map(([alert, worse]) => [`${alert} worse`, worse])),
        ...Object.fromEntries(WORLDS.map(([alert, , better]) => [`${alert} better`, better])),
        paused: worldOf({ paused: true, first_due_at: ago(9999), first_lease_end_at: ago(999) }),
      });
    }, 60_000);

    test('promtool finds no fault with the file', async () => {
      expect(await promtool('check', 'rules', RULES_FILE)).toContain(`${RULES.length} rules found`);
    });

    test('each rule has worlds above', () => {
      expect(WORLDS.map(([alert]) => alert)).toEqual(ALERTS);
    });

    test.each(WORLDS)('S1.19 %s fires, alone, and not a little before', (alert) => {
      expect(firing[`${alert} worse`]).toEqual([alert]);
      expect(firing[`${alert} better`]).toEqual([]);
    });

    test('a paused queue may wait', () => {
      expect(firing['paused']).toEqual([]);
    });
  },
);
