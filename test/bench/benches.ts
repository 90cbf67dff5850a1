import { blockedKey } from './blocked-key.ts';
import { burnDown } from './burn-down.ts';
import { claimCost } from './claim-cost.ts';
import { claimers } from './claimers.ts';
import { controls } from './controls.ts';
import { crashRecovery } from './crash-recovery.ts';
import { delayedBacklog } from './delayed-backlog.ts';
import { enqueue } from './enqueue.ts';
import { httpRoundTrips } from './http-round-trips.ts';
import { latency } from './latency.ts';
import { manyQueues } from './many-queues.ts';
import { oldSnapshot } from './old-snapshot.ts';
import { reclaimStorm } from './reclaim-storm.ts';
import type { Bench } from './support/bench.ts';

/** Every bench that has a name, in the order of `--help`. */
export const BENCHES: readonly Bench[] = [
  burnDown,
  claimCost,
  delayedBacklog,
  blockedKey,
  manyQueues,
  claimers,
  enqueue,
  oldSnapshot,
  reclaimStorm,
  httpRoundTrips,
  latency,
  crashRecovery,
  controls,
];
