import type { EventFeed, Sql } from '../shared/ports.ts';
import { beginEffect } from '../shared/queue/begin-effect.ts';
import { complete } from '../shared/queue/complete.ts';
import { escalate } from '../shared/queue/escalate.ts';
import { fail } from '../shared/queue/fail.ts';
import { heartbeat } from '../shared/queue/heartbeat.ts';
import { settleEffect } from '../shared/queue/settle-effect.ts';
import { snooze } from '../shared/queue/snooze.ts';
import type { RunOperations } from '../shared/run-operations.ts';

/** What a run says to the queue, said to this database; who follows hears of each step. */
export function runOperationsOver(deps: {
  readonly sql: Sql;
  readonly feed: EventFeed;
}): RunOperations {
  const { sql } = deps;
  const told = async <Outcome>(said: Promise<Outcome>): Promise<Outcome> => {
    const outcome = await said;
    deps.feed.changed();
    return outcome;
  };
  return {
    heartbeat: (input, options) => told(heartbeat(sql, input, options)),
    complete: (input, options) => told(complete(sql, input, options)),
    fail: (input, options) => told(fail(sql, input, options)),
    escalate: (input, options) => told(escalate(sql, input, options)),
    snooze: (input, options) => told(snooze(sql, input, options)),
    beginEffect: (input, options) => told(beginEffect(sql, input, options)),
    settleEffect: (input, options) => told(settleEffect(sql, input, options)),
  };
}
