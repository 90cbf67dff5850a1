import type { Sql } from '../../shared/ports.ts';
import { logChanges } from '../../shared/queue/log-changes.ts';

/** Waits until all that is committed has its cursor: a transaction of another test may be open in the server. */
export async function settledLog(sql: Sql): Promise<void> {
  for (;;) {
    const { unsettled } = await logChanges(sql, { limit: 1 });
    if (!unsettled) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
