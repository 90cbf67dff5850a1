import type { Bench, BenchResult } from './support/bench.ts';
import { openGraphileListener } from './latency/graphile-listener.ts';
import { openPokedWorker } from './latency/poked-worker.ts';
import type { StartProbe, StartTimes } from './latency/start-probe.ts';
import { interleave } from './support/rounds.ts';
import { percentile, ratio } from './support/stats.ts';

export const latency: Bench<{ jobs: number; pauseMs: number; repeats: number }> = {
  name: 'latency',
  summary:
    'enqueue to handler start on an idle queue: our poke over HTTP, graphile-worker by LISTEN',
  full: { jobs: 300, pauseMs: 20, repeats: 3 },
  short: { jobs: 40, pauseMs: 20, repeats: 3 },
  run: async ({ server, progress }, { jobs, pauseMs, repeats }) => {
    const probes: StartProbe[] = [];
    try {
      probes.push(await openPokedWorker(server), await openGraphileListener(server));
      const rounds = await interleave(
        probes.map((probe) => ({
          name: probe.name,
          measure: () => oneByOne(probe, jobs, pauseMs),
        })),
        { repeats, warmUps: 1, progress, what: 'one job at a time' },
      );
      return report(new Map([...rounds].map(([name, times]) => [name, times.flat()])));
    } finally {
      for (const probe of probes) await probe.close();
    }
  },
};

/** @param pauseMs after each start: long enough for the job to be over and done with. */
async function oneByOne(
  probe: StartProbe,
  jobs: number,
  pauseMs: number,
): Promise<readonly StartTimes[]> {
  const times: StartTimes[] = [];
  for (let sent = 0; sent < jobs; sent += 1) {
    times.push(await probe.enqueueOne());
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return times;
}

type Measure = 'fromCallMs' | 'fromRowMs';

function report(all: ReadonlyMap<string, readonly StartTimes[]>): BenchResult {
  const [ours = [], theirs = []] = all.values();
  const at = (times: readonly StartTimes[], kind: Measure, percent: number): number =>
    percentile(
      times.map((one) => one[kind]),
      percent,
    );
  return {
    tables: [
      {
        title: 'Enqueue to handler start, ms',
        columns: ['system', 'from the call: p50', 'p99', 'from the row: p50', 'p99', 'jobs'],
        rows: [...all].map(([name, times]) => [
          name,
          at(times, 'fromCallMs', 50),
          at(times, 'fromCallMs', 99),
          at(times, 'fromRowMs', 50),
          at(times, 'fromRowMs', 99),
          times.length,
        ]),
      },
      {
        title: 'Where the time of ours goes, p50 of each, ms',
        columns: ['part', 'ms'],
        rows: Object.keys(ours[0]?.parts ?? {}).map((part) => [
          part,
          percentile(
            ours.map(({ parts }) => parts?.[part] ?? Number.NaN),
            50,
          ),
        ]),
      },
    ],
    targets: [
      {
        name: 'from the call, p50, times graphile-worker',
        measured: ratio(at(ours, 'fromCallMs', 50), at(theirs, 'fromCallMs', 50)),
        bound: 2,
        kind: 'most',
      },
      {
        name: 'from the call, p99, times graphile-worker',
        measured: ratio(at(ours, 'fromCallMs', 99), at(theirs, 'fromCallMs', 99)),
        bound: 3,
        kind: 'most',
      },
    ],
    charts: [
      {
        kind: 'bar',
        title: 'Enqueue to handler start on an idle queue',
        description: [...all]
          .map(([name, times]) => `${name}: p50 ${at(times, 'fromCallMs', 50).toFixed(1)} ms`)
          .join('; '),
        x: { label: 'from the enqueue call' },
        y: { label: 'milliseconds' },
        series: [...all].map(([name, times]) => ({
          name,
          points: [50, 99].map((percent) => ({
            x: `p${percent}`,
            y: at(times, 'fromCallMs', percent),
          })),
        })),
      },
    ],
    notes: [
      'Ours: POST /v1/jobs to the Worker in workerd, its statements over the /sql endpoint, the poke through its binding; ' +
        'the handler has started when its own request arrives at the bench. graphile-worker: addJob and LISTEN on direct connections.',
    ],
  };
}
