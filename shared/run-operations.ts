import type { BeginEffectInput, BeginEffectOutcome } from './queue/begin-effect.ts';
import type { CompleteInput, CompleteOutcome } from './queue/complete.ts';
import type { EscalateInput, EscalateOutcome } from './queue/escalate.ts';
import type { FailInput, FailOutcome } from './queue/fail.ts';
import type { GiveBackOutcome } from './queue/given-back.ts';
import type { HeartbeatInput, HeartbeatOutcome } from './queue/heartbeat.ts';
import type { SettleEffectInput, SettleEffectOutcome } from './queue/settle-effect.ts';
import type { SnoozeInput } from './queue/snooze.ts';

/** What a run says to the queue. Each call may reject with an unknown outcome and is safe to repeat. */
export interface RunOperations {
  heartbeat(input: HeartbeatInput, options?: { signal?: AbortSignal }): Promise<HeartbeatOutcome>;
  complete(input: CompleteInput, options?: { signal?: AbortSignal }): Promise<CompleteOutcome>;
  fail(input: FailInput, options?: { signal?: AbortSignal }): Promise<FailOutcome>;
  escalate(input: EscalateInput, options?: { signal?: AbortSignal }): Promise<EscalateOutcome>;
  snooze(input: SnoozeInput, options?: { signal?: AbortSignal }): Promise<GiveBackOutcome>;
  beginEffect(
    input: BeginEffectInput,
    options?: { signal?: AbortSignal },
  ): Promise<BeginEffectOutcome>;
  settleEffect(
    input: SettleEffectInput,
    options?: { signal?: AbortSignal },
  ): Promise<SettleEffectOutcome>;
}
