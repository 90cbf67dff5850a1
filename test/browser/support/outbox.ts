import { claimed, settle } from '../../outbox/support/shard-calls.ts';
import type { Agent } from './agent.ts';
import type { BoardHarness } from './board-harness.ts';

/** What an event says of itself. */
export interface Named {
  readonly aggregate_type: string;
  readonly aggregate_id: string;
  readonly type: string;
}

/** Appends an event and gives its id. */
export async function appendEvent(agent: Agent, event: Named): Promise<string> {
  const { id } = (await agent.call('POST', '/v1/outbox/events', {
    ...event,
    payload: {},
  })) as { readonly id: string };
  return id;
}

/** A relay claims what waits, and its receiver takes none of it: the event is quarantined. */
export async function quarantine(
  { deployment }: BoardHarness,
  agent: Agent,
  event: Named,
  error: { readonly code: string; readonly message: string },
): Promise<string> {
  const id = await appendEvent(agent, event);
  const { sql } = deployment.database;
  const batch = await claimed(sql);
  const results = batch.events.map(({ id: one, attempt }) => ({
    id: one,
    outcome: 'rejected' as const,
    attempt,
    error,
  }));
  await settle(sql, batch, results);
  return id;
}
