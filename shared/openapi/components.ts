import type { z } from 'zod';

import { appendEventRequest } from '../schemas/append-event-request.ts';
import { cancelRequest } from '../schemas/cancel-request.ts';
import { cancelResponse } from '../schemas/cancel-response.ts';
import { chosenEventsRequest } from '../schemas/chosen-events-request.ts';
import { claimQueuesRequest } from '../schemas/claim-queues-request.ts';
import { claimRequest } from '../schemas/claim-request.ts';
import { claimResponse, leasedJobResponse } from '../schemas/claim-response.ts';
import { completeRequest } from '../schemas/complete-request.ts';
import { discardMatchingRequest } from '../schemas/discard-matching-request.ts';
import { discardRequest } from '../schemas/discard-request.ts';
import { editJobRequest } from '../schemas/edit-job-request.ts';
import { enqueueBatchRequest } from '../schemas/enqueue-batch-request.ts';
import { enqueueRequest } from '../schemas/enqueue-request.ts';
import { enqueuedBatchResponse, enqueuedResponse } from '../schemas/enqueued-response.ts';
import {
  claimEscalatedRequest,
  completeEscalatedRequest,
  discardEscalatedRequest,
  escalateRequest,
  releaseEscalatedRequest,
  sendBackRequest,
} from '../schemas/escalation-requests.ts';
import {
  heldClaimResponse,
  heldJobResponse,
  settledEscalationResponse,
} from '../schemas/escalation-responses.ts';
import { failRequest } from '../schemas/fail-request.ts';
import { heartbeatRequest } from '../schemas/heartbeat-request.ts';
import {
  jobAttemptResponse,
  jobEffectResponse,
  jobPageResponse,
  jobResponse,
  jobSummaryResponse,
} from '../schemas/job-response.ts';
import {
  completeResponse,
  escalateResponse,
  failResponse,
  givenBackResponse,
  heartbeatResponse,
} from '../schemas/lease-responses.ts';
import {
  jobHistoryResponse,
  logEventPageResponse,
  logEventResponse,
  pastBoardResponse,
} from '../schemas/log-response.ts';
import { noteDeadLetterRequest } from '../schemas/note-dead-letter-request.ts';
import {
  aggregateEventsResponse,
  appendedEventResponse,
  chosenEventsResponse,
  eventFeedResponse,
  eventPageResponse,
  eventResponse,
  eventSummaryResponse,
  outboxMetricsResponse,
} from '../schemas/outbox-response.ts';
import { overviewResponse } from '../schemas/overview-response.ts';
import { pauseRequest } from '../schemas/pause-request.ts';
import { problemResponse } from '../schemas/problem-response.ts';
import {
  blockedKeysResponse,
  queuePageResponse,
  queueResponse,
  switchedQueueResponse,
} from '../schemas/queue-response.ts';
import { queueSettingsRequest } from '../schemas/queue-settings-request.ts';
import { redriveMatchingRequest } from '../schemas/redrive-matching-request.ts';
import { redriveRequest } from '../schemas/redrive-request.ts';
import { releaseRequest } from '../schemas/release-request.ts';
import { scheduleRequest } from '../schemas/schedule-request.ts';
import {
  schedulePageResponse,
  scheduleResponse,
  scheduleSummaryResponse,
} from '../schemas/schedule-response.ts';
import { healthResponse, readyResponse, workResponse } from '../schemas/service-responses.ts';
import { settleEffectRequest } from '../schemas/settle-effect-request.ts';
import {
  dryRunResponse,
  matchingResponse,
  settledEffectResponse,
  settledResponse,
} from '../schemas/settled-response.ts';
import { snoozeRequest } from '../schemas/snooze-request.ts';
import { workRequest } from '../schemas/work-request.ts';

/** The messages of the API by their public names: the very schemas that routes parse with, and what they answer. */
export const COMPONENTS = {
  EnqueueRequest: enqueueRequest,
  EnqueueBatchRequest: enqueueBatchRequest,
  EnqueuedJob: enqueuedResponse,
  EnqueuedJobs: enqueuedBatchResponse,
  Job: jobResponse,
  JobSummary: jobSummaryResponse,
  JobAttempt: jobAttemptResponse,
  JobEffect: jobEffectResponse,
  JobPage: jobPageResponse,
  CancelRequest: cancelRequest,
  CancelOutcome: cancelResponse,
  EditJobRequest: editJobRequest,
  ClaimRequest: claimRequest,
  ClaimQueuesRequest: claimQueuesRequest,
  Claim: claimResponse,
  LeasedJob: leasedJobResponse,
  HeartbeatRequest: heartbeatRequest,
  HeartbeatOutcome: heartbeatResponse,
  CompleteRequest: completeRequest,
  CompleteOutcome: completeResponse,
  FailRequest: failRequest,
  FailOutcome: failResponse,
  ReleaseRequest: releaseRequest,
  SnoozeRequest: snoozeRequest,
  GivenBackOutcome: givenBackResponse,
  EscalateRequest: escalateRequest,
  EscalateOutcome: escalateResponse,
  QueueSettings: queueSettingsRequest,
  Queue: queueResponse,
  SwitchedQueue: switchedQueueResponse,
  Overview: overviewResponse,
  QueuePage: queuePageResponse,
  PauseRequest: pauseRequest,
  BlockedKeys: blockedKeysResponse,
  NoteDeadLetterRequest: noteDeadLetterRequest,
  RedriveRequest: redriveRequest,
  DiscardRequest: discardRequest,
  RedriveMatchingRequest: redriveMatchingRequest,
  DiscardMatchingRequest: discardMatchingRequest,
  Settled: settledResponse,
  DryRun: dryRunResponse,
  MatchingOutcome: matchingResponse,
  ClaimEscalatedRequest: claimEscalatedRequest,
  HeldClaim: heldClaimResponse,
  HeldJob: heldJobResponse,
  CompleteEscalatedRequest: completeEscalatedRequest,
  SendBackRequest: sendBackRequest,
  DiscardEscalatedRequest: discardEscalatedRequest,
  ReleaseEscalatedRequest: releaseEscalatedRequest,
  SettledEscalation: settledEscalationResponse,
  SettleEffectRequest: settleEffectRequest,
  SettledEffect: settledEffectResponse,
  LogEvent: logEventResponse,
  LogEventPage: logEventPageResponse,
  JobHistory: jobHistoryResponse,
  PastBoard: pastBoardResponse,
  ScheduleRequest: scheduleRequest,
  Schedule: scheduleResponse,
  ScheduleSummary: scheduleSummaryResponse,
  SchedulePage: schedulePageResponse,
  AppendEventRequest: appendEventRequest,
  AppendedEvent: appendedEventResponse,
  Event: eventResponse,
  EventSummary: eventSummaryResponse,
  EventPage: eventPageResponse,
  EventFeed: eventFeedResponse,
  AggregateEvents: aggregateEventsResponse,
  ChosenEventsRequest: chosenEventsRequest,
  ChosenEvents: chosenEventsResponse,
  OutboxMetrics: outboxMetricsResponse,
  WorkRequest: workRequest,
  WorkOutcome: workResponse,
  Health: healthResponse,
  Ready: readyResponse,
  Problem: problemResponse,
} as const satisfies Readonly<Record<string, z.ZodType>>;

export type ComponentName = keyof typeof COMPONENTS;
