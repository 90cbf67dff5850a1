import { BOARD_ROUTES } from '../board/board-routes.ts';
import { claimFromQueue, claimFromQueues } from './claims.ts';
import {
  changeDeadLetter,
  listDeadLettersRoute,
  readDeadLetter,
  settleEffectRoute,
} from './dead-letters.ts';
import {
  claimEscalation,
  completeEscalation,
  discardEscalation,
  listEscalationsRoute,
  releaseEscalation,
  sendBackEscalation,
} from './escalations.ts';
import { health, ready } from './health.ts';
import { cancelJob, changeJob, readJob } from './job.ts';
import { enqueueJob, enqueueJobs, listJobsRoute } from './jobs.ts';
import {
  completeLease,
  escalateLease,
  failLease,
  heartbeatLease,
  releaseLease,
  snoozeLease,
} from './leases.ts';
import { followLog, readJobHistory, readLog, readPastBoard } from './log.ts';
import { mcp, providerMetadata } from './mcp.ts';
import { readMetricsRoute } from './metrics.ts';
import { docs, openapi } from './openapi.ts';
import {
  appendEventRoute,
  listEvents,
  readAggregateEvents,
  readEvent,
  readEventFeed,
  readOutboxMetrics,
} from './outbox.ts';
import { readOverviewRoute } from './overview.ts';
import { replayEventsRoute, skipEventsRoute } from './quarantined-events.ts';
import {
  listQueuesRoute,
  pauseQueue,
  putQueue,
  readBlockedKeys,
  readQueue,
  resumeQueue,
} from './queues.ts';
import type { Route } from './route.ts';
import {
  listSchedulesRoute,
  pauseSchedule,
  putScheduleRoute,
  readSchedule,
  removeSchedule,
  resumeSchedule,
} from './schedules.ts';
import {
  discardDeadLetters,
  discardMatching,
  redriveDeadLetters,
  redriveMatching,
} from './settle-dead-letters.ts';
import { work } from './work.ts';

/** Every route of the API. Fixed paths stand before patterns that would match them too. */
export const ROUTES: readonly Route[] = [
  health,
  ready,
  work,
  enqueueJobs,
  enqueueJob,
  listJobsRoute,
  readJob,
  changeJob,
  cancelJob,
  claimFromQueues,
  claimFromQueue,
  heartbeatLease,
  completeLease,
  failLease,
  releaseLease,
  snoozeLease,
  escalateLease,
  readLog,
  followLog,
  readJobHistory,
  readPastBoard,
  readOverviewRoute,
  listQueuesRoute,
  readQueue,
  putQueue,
  pauseQueue,
  resumeQueue,
  readBlockedKeys,
  redriveDeadLetters,
  discardDeadLetters,
  redriveMatching,
  discardMatching,
  listDeadLettersRoute,
  readDeadLetter,
  changeDeadLetter,
  settleEffectRoute,
  listEscalationsRoute,
  claimEscalation,
  completeEscalation,
  sendBackEscalation,
  discardEscalation,
  releaseEscalation,
  listSchedulesRoute,
  readSchedule,
  putScheduleRoute,
  removeSchedule,
  pauseSchedule,
  resumeSchedule,
  appendEventRoute,
  listEvents,
  readEvent,
  replayEventsRoute,
  skipEventsRoute,
  readEventFeed,
  readAggregateEvents,
  readOutboxMetrics,
  readMetricsRoute,
  openapi,
  docs,
];

/** What is served beside the API, and described elsewhere: another protocol for agents, and pages for people. */
export const OTHER_ROUTES: readonly Route[] = [mcp, providerMetadata, ...BOARD_ROUTES];

/** All of them, made once and not for each request. */
export const EVERY_ROUTE: readonly Route[] = [...ROUTES, ...OTHER_ROUTES];
