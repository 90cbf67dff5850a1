import { z } from 'zod';

import { stating } from '../parse-with.ts';
import { queueName } from './names.ts';

const MAX_STATED_DEPTH = 1000;
const DEPTH_RULE = `must be an integer from 0 to ${MAX_STATED_DEPTH}`;

/**
 * A poke: "there is work in this queue". `depth` counts the pokes that led to it; `drain` tells that a drain sent it, which
 * looks again by itself. With `relay` it is for the outbox instead: there are events to publish; the queue is then only a
 * name for the log.
 */
export const workRequest = z.strictObject(
  {
    queue: queueName,
    depth: z
      .int(stating(DEPTH_RULE))
      .min(0, DEPTH_RULE)
      .max(MAX_STATED_DEPTH, DEPTH_RULE)
      .default(0),
    drain: z.boolean(stating('must be true or false')).default(false),
    relay: z.boolean(stating('must be true or false')).default(false),
  },
  stating('must be an object with "queue", "depth", "drain" and "relay"'),
);
