import { enqueueJob, enqueueJobs, listJobsRoute, readJob } from './jobs.ts';
import { health, ready } from './health.ts';
import type { Route } from './route.ts';
import { work } from './work.ts';

/** Every route there is. Fixed paths stand before patterns that would match them too. */
export const ROUTES: readonly Route[] = [
  health,
  ready,
  work,
  enqueueJobs,
  enqueueJob,
  listJobsRoute,
  readJob,
];
