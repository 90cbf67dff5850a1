/** When the handler of one job started. */
export interface StartTimes {
  /** Since the call that enqueued it was begun. */
  readonly fromCallMs: number;
  /** Since the time in its row, by the database's clock. */
  readonly fromRowMs: number;
  /** Where the time from the call went, in order, where it can be seen. */
  readonly parts?: Readonly<Record<string, number>>;
}

/** A deployment that runs a job as soon as it hears of it. */
export interface StartProbe {
  readonly name: string;
  /** Enqueues one job and waits for its handler. */
  enqueueOne(): Promise<StartTimes>;
  close(): Promise<void>;
}

/** Milliseconds since the epoch, with their fractions. */
export function wallClock(): number {
  return performance.timeOrigin + performance.now();
}
