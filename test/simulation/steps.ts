import fc from 'fast-check';
import { FAILURE_CLASSES, type FailureClass } from '../../shared/queue/failure-class.ts';

/** One thing that happens; `pick` chooses among the jobs that it can happen to. */
export type Step =
  | {
      readonly do: 'enqueue';
      readonly key: number;
      readonly dedup: number;
      readonly maxAttempts: number;
      readonly delayed: boolean;
    }
  | { readonly do: 'claim' | 'settle' | 'time passes' | 'pause' | 'resume' }
  | HumanStep
  | {
      readonly do: 'fail';
      readonly pick: number;
      readonly failureClass: FailureClass;
      readonly stale: boolean;
    }
  | {
      readonly do: 'complete' | 'complete and claim' | 'snooze' | 'release' | 'heartbeat' | 'ask';
      readonly pick: number;
      /** With the token of an earlier claim: nothing may change. */
      readonly stale: boolean;
    }
  | {
      readonly do: 'expire' | 'cancel' | 'redrive' | 'discard' | 'edit' | 'repeat enqueue';
      readonly pick: number;
    };

/** What people do, with escalated jobs. */
export type HumanStep =
  | { readonly do: 'take' }
  | { readonly do: 'hold expires'; readonly pick: number }
  | {
      readonly do: 'complete held' | 'send back' | 'discard held' | 'let go';
      readonly pick: number;
      readonly stale: boolean;
    };

const pick = fc.nat(20);
const stale = fc.boolean().filter(Boolean);
const sometimesStale = fc.oneof(
  { weight: 5, arbitrary: fc.constant(false) },
  { weight: 1, arbitrary: stale },
);

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('enqueue' as const),
        key: fc.nat(3),
        dedup: fc.nat(4),
        maxAttempts: fc.constantFrom(1, 2, 4, 4),
        delayed: fc.boolean(),
      }),
    },
    { weight: 10, arbitrary: fc.record({ do: fc.constant('claim' as const) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constantFrom(
          'settle' as const,
          'time passes' as const,
          'pause' as const,
          'resume' as const,
          'resume' as const,
        ),
      }),
    },
    {
      weight: 7,
      arbitrary: fc.record({
        do: fc.constantFrom(
          'complete' as const,
          'complete and claim' as const,
          'complete and claim' as const,
          'snooze' as const,
          'release' as const,
          'heartbeat' as const,
          'ask' as const,
        ),
        pick,
        stale: sometimesStale,
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('fail' as const),
        pick,
        failureClass: fc.constantFrom(...FAILURE_CLASSES),
        stale: sometimesStale,
      }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('take' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('hold expires' as const), pick }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constantFrom(
          'complete held' as const,
          'send back' as const,
          'send back' as const,
          'discard held' as const,
          'let go' as const,
        ),
        pick,
        stale: sometimesStale,
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constantFrom(
          'expire' as const,
          'expire' as const,
          'expire' as const,
          'cancel' as const,
          'redrive' as const,
          'redrive' as const,
          'discard' as const,
          'edit' as const,
          'repeat enqueue' as const,
        ),
        pick,
      }),
    },
  ),
  // Without a size fast-check would keep to a dozen steps.
  { minLength: 1, maxLength: 60, size: 'max' },
);
