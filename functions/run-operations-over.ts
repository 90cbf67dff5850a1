import type { Sql } from '../shared/ports.ts';
import { beginEffect } from '../shared/queue/begin-effect.ts';
import { complete } from '../shared/queue/complete.ts';
import { fail } from '../shared/queue/fail.ts';
import { heartbeat } from '../shared/queue/heartbeat.ts';
import { settleEffect } from '../shared/queue/settle-effect.ts';
import { snooze } from '../shared/queue/snooze.ts';
import type { RunOperations } from '../shared/run-operations.ts';

/** What a run says to the queue, said to this database. */
export function runOperationsOver(sql: Sql): RunOperations {
  return {
    heartbeat: (input, options) => heartbeat(sql, input, options),
    complete: (input, options) => complete(sql, input, options),
    fail: (input, options) => fail(sql, input, options),
    snooze: (input, options) => snooze(sql, input, options),
    beginEffect: (input, options) => beginEffect(sql, input, options),
    settleEffect: (input, options) => settleEffect(sql, input, options),
  };
}
