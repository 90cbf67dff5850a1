/** A count that stops at a bound: when it is capped, there are more. */
export interface CappedCount {
  readonly count: number;
  readonly capped: boolean;
}
