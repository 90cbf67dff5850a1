import { closeAll, GRAPHILE, PG_BOSS } from './support/all-systems.ts';
import type { Bench } from './support/bench.ts';
import { interleave } from './support/rounds.ts';
import { median, ratio, spreadText } from './support/stats.ts';
import { openGraphile } from './support/systems/graphile-worker.ts';
import { enqueueJobs, openLeasehold } from './support/systems/leasehold.ts';
import { openPgBoss } from './support/systems/pg-boss.ts';

const PLAIN = 'Leasehold';
const ORDERED = 'Leasehold, ordering keys';
const DEDUPED = 'Leasehold, dedup keys';
/** As many keys as a batch of a thousand has tens. */
const ORDERING_KEYS = 100;

interface Way {
  readonly name: string;
  add(count: number, call: number): Promise<void>;
}

export const enqueue: Bench<{
  batches: readonly number[];
  seconds: number;
  repeats: number;
}> = {
  name: 'enqueue',
  summary:
    'jobs a second added by one client, 1 to 1,000 a call; ours with and without keys, and the peers',
  full: { batches: [1, 10, 100, 1000], seconds: 4, repeats: 3 },
  short: { batches: [1, 1000], seconds: 0.6, repeats: 3 },
  run: async ({ server, progress }, { batches, seconds, repeats }) => {
    const ours = await openLeasehold(server, 'two-call');
    const graphile = await openGraphile(server, 'unbatched');
    const boss = await openPgBoss(server);
    const systems = [ours, graphile, boss];
    const ways: readonly Way[] = [
      { name: PLAIN, add: (count) => ours.enqueue(count) },
      {
        name: ORDERED,
        add: (count) =>
          enqueueJobs(ours.database, count, (index) => ({
            ordering_key: `key-${index % ORDERING_KEYS}`,
          })),
      },
      {
        name: DEDUPED,
        add: (count, call) =>
          enqueueJobs(ours.database, count, (index) => ({ dedup_key: `${call}-${index}` })),
      },
      { name: graphile.name, add: (count) => graphile.enqueue(count) },
      { name: boss.name, add: (count) => boss.enqueue(count) },
    ];
    const rates = new Map(ways.map(({ name }) => [name, new Map<number, readonly number[]>()]));
    let calls = 0;
    try {
      for (const count of batches) {
        const rounds = await interleave(
          ways.map(({ name, add }) => ({
            name,
            measure: async () => {
              const begun = performance.now();
              let added = 0;
              do {
                calls += 1;
                await add(count, calls);
                added += count;
              } while (performance.now() - begun < seconds * 1000);
              return added / ((performance.now() - begun) / 1000);
            },
          })),
          { repeats, warmUps: 1, progress, what: `${count} a call` },
        );
        for (const [name, of] of rounds) rates.get(name)?.set(count, of);
        for (const system of systems) await system.settle();
      }
    } finally {
      await closeAll(systems);
    }
    const names = ways.map(({ name }) => name);
    const most = Math.max(...batches);
    const rate = (name: string, count: number): number => median(rates.get(name)?.get(count) ?? []);
    return {
      tables: [
        {
          title: 'Jobs added a second by one client, median (min–max), by jobs a call',
          columns: ['system', ...batches.map(String)],
          rows: names.map((name) => [
            name,
            ...batches.map((count) => spreadText(rates.get(name)?.get(count) ?? [])),
          ]),
        },
      ],
      targets: [
        {
          name: `enqueue, ours at ${most} a call, times pg-boss insert`,
          measured: ratio(rate(PLAIN, most), rate(PG_BOSS, most)),
          bound: 1.5,
          kind: 'least',
        },
        {
          name: `enqueue, ours at ${most} a call, times graphile-worker add_jobs`,
          measured: ratio(rate(PLAIN, most), rate(GRAPHILE, most)),
          bound: 0.7,
          kind: 'least',
        },
      ],
      charts: [
        {
          kind: 'bar',
          title: 'Jobs added a second by one client',
          description: `At ${most} jobs a call: ${names.map((name) => `${name} ${Math.round(rate(name, most))}`).join(', ')} jobs a second.`,
          x: { label: 'jobs a call' },
          y: { label: 'jobs a second' },
          series: names.map((name) => ({
            name,
            points: batches.map((count) => ({ x: String(count), y: rate(name, count) })),
          })),
        },
      ],
      notes: [
        `Ours writes three rows a job: the job, its state and an event. Ordering keys: ${ORDERING_KEYS} different ones, each with a growing tail.`,
      ],
    };
  },
};
