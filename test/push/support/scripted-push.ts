import { webIds } from '../../../functions/web-ports.ts';
import type { Outbound } from '../../../shared/ports.ts';
import { pushJob } from '../../../shared/push/push-job.ts';
import type { PushJobInput, PushOutcome } from '../../../shared/push/push-job.ts';
import type { PushTargetPolicy } from '../../../shared/push/target.ts';
import type { ClaimedJob } from '../../../shared/queue/claimed-job.ts';
import type { CompleteInput } from '../../../shared/queue/complete.ts';
import type { FailInput } from '../../../shared/queue/fail.ts';
import type { HeartbeatInput, HeartbeatOutcome } from '../../../shared/queue/heartbeat.ts';
import { Secret } from '../../../shared/secret.ts';
import { ManualClock } from '../../unit/support/manual-clock.ts';
import { RecordingLog } from '../../unit/support/recording-log.ts';

export const PUSH_KEY = `whsec_${btoa('the push key of these tests, v1.')}`;
export const SECOND_PUSH_KEY = `whsec_${btoa('the push key of these tests, v2.')}`;

/** One push against a scripted network, on a clock of the test's own. */
export interface ScriptedPush {
  readonly time: ManualClock;
  readonly log: RecordingLog;
  readonly requests: Request[];
  readonly completed: CompleteInput[];
  readonly failed: FailInput[];
  readonly beats: HeartbeatInput[];
  readonly recorded: boolean[];
  /** The network and the far end; a test may replace them. */
  readonly script: {
    fetch: Outbound['fetch'];
    lookup: Outbound['lookup'] | undefined;
    heartbeat: () => Promise<HeartbeatOutcome>;
    moreDue: boolean;
  };
  start(
    input?: Partial<PushJobInput>,
    policy?: PushTargetPolicy,
    keys?: readonly string[],
  ): Promise<PushOutcome>;
}

export function scriptedPush(): ScriptedPush {
  const time = new ManualClock();
  const log = new RecordingLog();
  const push: ScriptedPush = {
    time,
    log,
    requests: [],
    completed: [],
    failed: [],
    beats: [],
    recorded: [],
    script: {
      fetch: async () => new Response('done'),
      lookup: undefined,
      heartbeat: async () => ({
        outcome: 'held',
        leaseExpiresAt: new Date(time.now() + 30_000),
        leaseRemainingMs: 30_000,
        cancelRequested: false,
      }),
      moreDue: false,
    },
    start: async (input = {}, policy = { allowHttp: false }, keys = [PUSH_KEY]) => {
      const { lookup } = push.script;
      return await pushJob(
        {
          clock: time,
          timer: time.timer,
          log,
          keys: keys.map((key) => new Secret(key)),
          policy,
          outbound: {
            fetch: async (request, options) => {
              push.requests.push(request);
              return await push.script.fetch(request, options);
            },
            ...(lookup === undefined ? {} : { lookup }),
          },
          recordPush: async (ok) => void push.recorded.push(ok),
          operations: {
            heartbeat: async (beat) => {
              push.beats.push(beat);
              return await push.script.heartbeat();
            },
            complete: async (report) => {
              push.completed.push(report);
              return { outcome: 'succeeded', moreDue: push.script.moreDue };
            },
            fail: async (report) => {
              push.failed.push(report);
              const { moreDue } = push.script;
              return { outcome: 'pending', dueAt: new Date(time.now()), moreDue };
            },
            snooze: () => Promise.reject(new Error('a push does not snooze')),
            escalate: () => Promise.reject(new Error('a push does not ask')),
          },
        },
        {
          job: claimedJob(time.now()),
          owner: 'push/hooks',
          targetUrl: 'https://hooks.example.com/in?key=secret-in-url',
          leaseSeconds: 120,
          claimSentAt: time.now(),
          invocationEndsAt: time.now() + 30_000,
          ...input,
        },
      );
    },
  };
  return push;
}

export function claimedJob(now: number, changes: Partial<ClaimedJob> = {}): ClaimedJob {
  return {
    jobId: webIds.uuidv7(),
    queue: 'hooks',
    type: 'order.paid',
    payload: { secret: 'payload-text' },
    headers: {},
    schemaVersion: 2,
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
    ...changes,
  };
}
