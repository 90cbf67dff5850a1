import { z } from 'zod';

import { defineHandler } from '../../../shared/handler.ts';
import type { HandlerContext } from '../../../shared/handler.ts';
import { handlerRegistry } from '../../../shared/handler-registry.ts';
import type { ClaimedJob } from '../../../shared/queue/claimed-job.ts';
import type { BeginEffectInput, BeginEffectOutcome } from '../../../shared/queue/begin-effect.ts';
import type { CompleteInput, CompleteOutcome } from '../../../shared/queue/complete.ts';
import type { EscalateInput, EscalateOutcome } from '../../../shared/queue/escalate.ts';
import type { FailInput, FailOutcome } from '../../../shared/queue/fail.ts';
import type { GiveBackOutcome } from '../../../shared/queue/given-back.ts';
import type { HeartbeatInput, HeartbeatOutcome } from '../../../shared/queue/heartbeat.ts';
import type {
  SettleEffectInput,
  SettleEffectOutcome,
} from '../../../shared/queue/settle-effect.ts';
import type { SnoozeInput } from '../../../shared/queue/snooze.ts';
import type { RunOutcome } from '../../../shared/report-ending.ts';
import { runJob } from '../../../shared/run-job.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordingLog } from './recording-log.ts';

export const JOB_ID = '01900000-0000-7000-8000-000000000001';

/** What the far end answers; each may be replaced by a test. It says nothing about what the SQL does. */
export interface Script {
  heartbeat: (input: HeartbeatInput) => Promise<HeartbeatOutcome>;
  complete: (input: CompleteInput) => Promise<CompleteOutcome>;
  fail: (input: FailInput) => Promise<FailOutcome>;
  escalate: (input: EscalateInput) => Promise<EscalateOutcome>;
  snooze: (input: SnoozeInput) => Promise<GiveBackOutcome>;
  beginEffect: (input: BeginEffectInput) => Promise<BeginEffectOutcome>;
  settleEffect: (input: SettleEffectInput) => Promise<SettleEffectOutcome>;
}

export interface ScriptedRun {
  readonly time: ManualClock;
  readonly log: RecordingLog;
  readonly script: Script;
  /** What was said to the far end, in order. */
  readonly calls: {
    readonly heartbeat: HeartbeatInput[];
    readonly complete: CompleteInput[];
    readonly fail: FailInput[];
    readonly escalate: EscalateInput[];
    readonly snooze: SnoozeInput[];
    readonly beginEffect: BeginEffectInput[];
    readonly settleEffect: SettleEffectInput[];
  };
  start(run: (context: HandlerContext) => unknown, options?: RunOptions): Promise<RunOutcome>;
}

export interface RunOptions {
  readonly job?: Partial<ClaimedJob>;
  readonly leaseSeconds?: number;
  readonly stepSeconds?: number;
  readonly maxRunSeconds?: number;
  readonly invocationMs?: number;
  readonly schema?: z.ZodType;
  readonly schemaVersions?: readonly number[];
}

/** A job of queue `q` and type `t` with a lease of 30 s, run against a scripted far end on a clock of the test's own. */
export function scriptedRun(): ScriptedRun {
  const time = new ManualClock();
  const log = new RecordingLog();
  const calls: ScriptedRun['calls'] = {
    heartbeat: [],
    complete: [],
    fail: [],
    escalate: [],
    snooze: [],
    beginEffect: [],
    settleEffect: [],
  };
  const script: Script = {
    heartbeat: async ({ leaseSeconds = 30 }) => ({
      outcome: 'held',
      leaseExpiresAt: new Date(time.now() + leaseSeconds * 1000),
      leaseRemainingMs: leaseSeconds * 1000,
      cancelRequested: false,
    }),
    complete: async () => ({ outcome: 'succeeded', moreDue: false }),
    fail: async () => ({ outcome: 'pending', dueAt: new Date(time.now() + 1000), moreDue: false }),
    escalate: async () => ({ outcome: 'escalated', moreDue: false }),
    snooze: async ({ delayMs }) => ({
      outcome: 'pending',
      dueAt: new Date(time.now() + delayMs),
    }),
    beginEffect: async () => ({ outcome: 'run' }),
    settleEffect: async () => 'settled',
  };
  return {
    time,
    log,
    script,
    calls,
    start: async (run, options = {}) => {
      const handler = defineHandler({
        queue: 'q',
        type: 't',
        schema: options.schema ?? z.unknown(),
        run: (_job, context) => run(context),
        ...(options.schemaVersions === undefined ? {} : { schemaVersions: options.schemaVersions }),
        ...(options.leaseSeconds === undefined ? {} : { leaseSeconds: options.leaseSeconds }),
        ...(options.stepSeconds === undefined ? {} : { stepSeconds: options.stepSeconds }),
        ...(options.maxRunSeconds === undefined ? {} : { maxRunSeconds: options.maxRunSeconds }),
      });
      const claimSentAt = time.now();
      return await runJob(
        {
          clock: time,
          timer: time.timer,
          log,
          handlers: handlerRegistry([handler]),
          operations: {
            heartbeat: (input) => {
              calls.heartbeat.push(input);
              return script.heartbeat(input);
            },
            complete: (input) => {
              calls.complete.push(input);
              return script.complete(input);
            },
            fail: (input) => {
              calls.fail.push(input);
              return script.fail(input);
            },
            escalate: (input) => {
              calls.escalate.push(input);
              return script.escalate(input);
            },
            snooze: (input) => {
              calls.snooze.push(input);
              return script.snooze(input);
            },
            beginEffect: (input) => {
              calls.beginEffect.push(input);
              return script.beginEffect(input);
            },
            settleEffect: (input) => {
              calls.settleEffect.push(input);
              return script.settleEffect(input);
            },
          },
        },
        {
          job: { ...claimedJob(time.now()), ...options.job },
          owner: 'worker-1',
          claimSentAt,
          invocationEndsAt: claimSentAt + (options.invocationMs ?? 900_000),
        },
      );
    },
  };
}

function claimedJob(now: number): ClaimedJob {
  return {
    jobId: JOB_ID,
    queue: 'q',
    type: 't',
    payload: { secret: 'payload-text' },
    headers: {},
    schemaVersion: 1,
    priority: 'normal',
    fencingToken: '7',
    attempt: 2,
    maxAttempts: 5,
    leaseSeconds: 30,
    leaseExpiresAt: new Date(now + 30_000),
    leaseRemainingMs: 30_000,
    runDeadlineAt: new Date(now + 900_000),
    runRemainingMs: 900_000,
    createdAt: new Date(now - 1000),
    moreDue: false,
    orderingKey: null,
    redrives: 0,
    note: null,
  };
}

/** A promise and its ends. */
export function deferred<Value = void>(): PromiseWithResolvers<Value> {
  return Promise.withResolvers<Value>();
}
