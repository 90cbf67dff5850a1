import fc from 'fast-check';

export interface StepJob {
  readonly priority: 'urgent' | 'high' | 'normal' | 'low';
  readonly delayMs: number;
  /** 0: none. */
  readonly key: number;
  readonly dedup: boolean;
}

/** A report on a lease, an edit of a job, or a decision on a dead one; `pick` chooses which. */
export interface StepOnJob {
  readonly do:
    | 'complete'
    | 'complete and claim'
    | 'fail'
    | 'fail for good'
    | 'snooze'
    | 'release'
    | 'heartbeat'
    | 'edit'
    | 'edit the priority'
    | 'cancel'
    | 'redrive'
    | 'discard';
  readonly slot: number;
  readonly pick: number;
}

/** `slot`: 0 commits at once; 1 to 3 are transactions that stay open until they are committed or rolled back. */
export type FloorStep =
  | {
      readonly do: 'enqueue' | 'enqueue, and wait for a key';
      readonly slot: number;
      readonly jobs: readonly StepJob[];
    }
  | { readonly do: 'open at repeatable read' | 'commit' | 'roll back'; readonly slot: number }
  | { readonly do: 'claim'; readonly slot: number; readonly limit: number }
  | StepOnJob
  | { readonly do: 'time passes' | 'the clock steps back'; readonly ms: number }
  | { readonly do: 'pause' | 'resume' | 'settle' | 'let the old snapshot go' | 'hold a snapshot' }
  | { readonly do: 'refresh'; readonly full: boolean };

const anySlot = fc.nat(3);
const openSlot = fc.integer({ min: 1, max: 3 });
const pick = fc.nat(9);
const job: fc.Arbitrary<StepJob> = fc.record({
  priority: fc.constantFrom('normal', 'normal', 'high', 'low'),
  delayMs: fc.constantFrom(0, 0, 0, 50, 2_000),
  key: fc.constantFrom(0, 0, 0, 1, 2),
  dedup: fc.constantFrom(false, false, false, true),
});
const jobs = fc.array(job, { minLength: 1, maxLength: 2 });

const one = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ do: fc.constant('enqueue' as const), slot: anySlot, jobs }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('enqueue, and wait for a key' as const),
      slot: openSlot,
      jobs,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('open at repeatable read' as const), slot: openSlot }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('commit' as const, 'commit' as const, 'roll back' as const),
      slot: openSlot,
    }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      slot: fc.constantFrom(0, 0, 0, 1),
      limit: fc.constantFrom(1, 1, 3),
    }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'complete' as const,
        'complete and claim' as const,
        'fail' as const,
        'fail for good' as const,
        'fail for good' as const,
        'snooze' as const,
        'release' as const,
        'heartbeat' as const,
        'edit' as const,
        'edit the priority' as const,
        'cancel' as const,
        'redrive' as const,
        'redrive' as const,
        'redrive' as const,
        'discard' as const,
      ),
      slot: anySlot,
      pick,
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('time passes' as const),
      ms: fc.constantFrom(1, 60, 60, 150, 600, 600, 600, 2_500, 11_000, 70_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('the clock steps back' as const),
      ms: fc.constantFrom(100, 700, 5_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'pause' as const,
        'resume' as const,
        'resume' as const,
        'settle' as const,
        'let the old snapshot go' as const,
        'hold a snapshot' as const,
        'hold a snapshot' as const,
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('refresh' as const), full: fc.boolean() }),
  },
);

export const floorSteps: fc.Arbitrary<FloorStep[]> = fc.array(one, {
  minLength: 1,
  maxLength: 70,
  size: 'max',
});
