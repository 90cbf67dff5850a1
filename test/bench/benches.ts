import { burnDown } from './burn-down.ts';
import { claimCost } from './claim-cost.ts';
import type { Bench } from './support/bench.ts';

/** Every bench that has a name, in the order of `--help`. */
export const BENCHES: readonly Bench[] = [burnDown, claimCost];
