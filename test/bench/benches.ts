import { burnDown } from './burn-down.ts';
import { claimCost } from './claim-cost.ts';
import { oldSnapshot } from './old-snapshot.ts';
import { reclaimStorm } from './reclaim-storm.ts';
import { httpRoundTrips } from './http-round-trips.ts';
import { latency } from './latency.ts';
import { crashRecovery } from './crash-recovery.ts';
import { controls } from './controls.ts';
import type { Bench } from './support/bench.ts';

/** Every bench that has a name, in the order of `--help`. */
export const BENCHES: readonly Bench[] = [
  burnDown,
  claimCost,
  oldSnapshot,
  reclaimStorm,
  httpRoundTrips,
  latency,
  crashRecovery,
  controls,
];
