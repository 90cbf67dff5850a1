import {
  ActionAfterCompletion,
  ConflictException,
  CreateScheduleCommand,
  FlexibleTimeWindowMode,
} from '@aws-sdk/client-scheduler';
import type { SchedulerClient } from '@aws-sdk/client-scheduler';

import type { Clock, Ids } from '../../shared/ports.ts';
import type { WakeClock } from '../../shared/wake/wake-clock.ts';
import { wakeInstant } from './eventbridge-instant.ts';
import type { WakeInstant } from './eventbridge-instant.ts';

/** What the stack made for wake-ups; names and ARNs. */
export interface WakeTarget {
  /** Schedule group: the namespace of the names. */
  readonly group: string;
  /** Function that drains. */
  readonly functionArn: string;
  /** Role in which Scheduler invokes it. */
  readonly roleArn: string;
  /** Standard queue that keeps what could not be delivered. */
  readonly deadLetterArn: string;
}

export interface EventBridgeWakeClockOptions {
  readonly client: Pick<SchedulerClient, 'send'>;
  readonly target: WakeTarget;
  /** What the function is invoked with; JSON. */
  readonly input: string;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Scheduler tries a wake-up again within this time; a later one would find nothing that the sweep has not. */
const MAX_EVENT_AGE_SECONDS = 3600;
const MAX_RETRIES = 8;

/**
 * Wakes the drain through one-off schedules of EventBridge Scheduler, each named after its instant: the first to ask
 * creates it, for everybody else it is there already (a conflict is the answer that all is well), and it deletes itself.
 *
 * Nothing is ever read, changed or deleted: Scheduler has no compare-and-set, so two callers that move one schedule can
 * put the later instant over the earlier, and a schedule that has just run may delete itself from under whoever moves it.
 * `docs/decisions/0009-a-wake-up-on-aws-is-named-after-its-instant.md` has the numbers.
 *
 * @example const wake = createEventBridgeWakeClock({ client: new SchedulerClient(), target, input, clock, ids });
 */
export function createEventBridgeWakeClock(options: EventBridgeWakeClockOptions): WakeClock {
  // The earliest wake-up to come that this container knows of. Lost with it, which costs a request that conflicts.
  let armed = Number.POSITIVE_INFINITY;
  return {
    async wakeAt(at) {
      const now = options.clock.now();
      const instant = wakeInstant(at, now);
      // The drain that the earlier one brings asks for the next.
      if (armed > now && armed <= instant.at) return;
      await create(options, instant);
      armed = instant.at;
    },
  };
}

async function create(
  { client, target, input, ids }: EventBridgeWakeClockOptions,
  instant: WakeInstant,
): Promise<void> {
  const command = new CreateScheduleCommand({
    Name: instant.name,
    GroupName: target.group,
    // One for this call and its repeats: an answer that was lost is not a second schedule.
    ClientToken: ids.uuidv7(),
    ScheduleExpression: instant.expression,
    ScheduleExpressionTimezone: 'UTC',
    FlexibleTimeWindow: { Mode: FlexibleTimeWindowMode.OFF },
    ActionAfterCompletion: ActionAfterCompletion.DELETE,
    Target: {
      Arn: target.functionArn,
      RoleArn: target.roleArn,
      Input: input,
      DeadLetterConfig: { Arn: target.deadLetterArn },
      RetryPolicy: {
        MaximumEventAgeInSeconds: MAX_EVENT_AGE_SECONDS,
        MaximumRetryAttempts: MAX_RETRIES,
      },
    },
  });
  try {
    await client.send(command);
  } catch (error) {
    if (!(error instanceof ConflictException)) throw error;
  }
}
