import { uuidv7 } from 'uuidv7';

import type { ClaimedEvents } from '../../../shared/outbox/claim-events.ts';
import { claimEvents } from '../../../shared/outbox/claim-events.ts';
import type { PublishResult } from '../../../shared/outbox/settle-events.ts';
import { settleEvents } from '../../../shared/outbox/settle-events.ts';
import type { Sql } from '../../../shared/ports.ts';

/** One claim, by default of `relay-a`, for 30 s and up to 100 events. */
export async function claim(
  sql: Sql,
  input: Partial<Parameters<typeof claimEvents>[1]> = {},
): Promise<ClaimedEvents | undefined> {
  const defaults = { owner: 'relay-a', claimId: uuidv7(), leaseSeconds: 30, limit: 100 };
  return await claimEvents(sql, { ...defaults, ...input });
}

/** The same, and fails the test when nothing is to be published. */
export async function claimed(...input: Parameters<typeof claim>): Promise<ClaimedEvents> {
  const batch = await claim(...input);
  if (batch === undefined) throw new Error('nothing was claimed');
  return batch;
}

export function allPublished({ events }: ClaimedEvents): PublishResult[] {
  return events.map(({ id }) => ({ id, outcome: 'published' }));
}

/** Settles with three tries an event. */
export async function settle(
  sql: Sql,
  { lease }: ClaimedEvents,
  results: readonly PublishResult[],
  more = false,
): ReturnType<typeof settleEvents> {
  return await settleEvents(sql, { lease, results, more, leaseSeconds: 30, maxAttempts: 3 });
}
