import { z } from 'zod';

import { CRON_RULE, ZONE_RULE, cronProblem, zoneProblem } from '../cron.ts';
import { MAX_ATTEMPTS, MAX_MISSED_SLOTS, MAX_PAYLOAD_BYTES } from '../limits.ts';
import { stating } from '../parse-with.ts';
import { MISSED_POLICIES, OVERLAP_POLICIES } from '../queue/schedule.ts';
import { integer } from './integer.ts';
import { jsonWithin } from './json-within.ts';
import { queueName, typeName } from './names.ts';
import { priority } from './priority.ts';

const DEFAULT_MISSED_LIMIT = 10;
const MISSED_RULE = `must be one of ${MISSED_POLICIES.map((name) => `"${name}"`).join(', ')}`;
const OVERLAP_RULE = `must be one of ${OVERLAP_POLICIES.map((name) => `"${name}"`).join(', ')}`;

const cron = z
  .string(stating(CRON_RULE))
  .check((context) => {
    addProblem(context, cronProblem(context.value));
  })
  .meta({ description: CRON_RULE });

const zone = z
  .string(stating(ZONE_RULE))
  .check((context) => {
    addProblem(context, zoneProblem(context.value));
  })
  .meta({ description: ZONE_RULE });

/** `PUT /v1/schedules/{name}`: the whole schedule; what is left out gets its default. */
export const scheduleRequest = z.strictObject(
  {
    cron,
    zone,
    queue: queueName,
    type: typeName,
    payload: jsonWithin(MAX_PAYLOAD_BYTES),
    priority: priority.default('normal'),
    max_attempts: integer(1, MAX_ATTEMPTS).nullable().default(null),
    missed: z.enum(MISSED_POLICIES, stating(MISSED_RULE)).default('latest'),
    missed_limit: integer(1, MAX_MISSED_SLOTS).default(DEFAULT_MISSED_LIMIT),
    overlap: z.enum(OVERLAP_POLICIES, stating(OVERLAP_RULE)).default('allow'),
  },
  stating('must be an object with "cron", "zone", "queue", "type" and "payload"'),
);

export type ScheduleRequest = z.infer<typeof scheduleRequest>;

function addProblem(context: z.core.ParsePayload<string>, problem: string | undefined): void {
  if (problem === undefined) return;
  context.issues.push({ code: 'custom', message: problem, input: context.value });
}
