import type { AppDeps } from '../deps.ts';
import { outboxNextDue } from '../../shared/outbox/outbox-next-due.ts';
import { relayPass } from '../relay/relay-pass.ts';
import type { RelayReport } from '../relay/relay-pass.ts';

export type RelayDeps = Pick<
  AppDeps,
  'sql' | 'clock' | 'timer' | 'ids' | 'log' | 'config' | 'publisher' | 'invocationMs' | 'wake'
>;

/**
 * The relay's part of a tick: whatever no poke has brought out, held events whose time has come, and what a relay left that
 * died; the instant of the next such thing goes to the wake clock. A deployment without a publisher asks the database nothing.
 *
 * @param signal stops the pass; what is under way goes out again
 * @returns undefined when there is no publisher
 */
export async function relayScheduled(
  deps: RelayDeps,
  signal?: AbortSignal,
): Promise<RelayReport | undefined> {
  const { publisher } = deps;
  if (publisher === undefined) return undefined;
  const report = await relayPass(
    { ...deps, publisher },
    {
      invocationEndsAt: deps.clock.now() + deps.invocationMs,
      maxAttempts: deps.config.outbox.maxAttempts,
      ...(signal === undefined ? {} : { signal }),
    },
  );
  const next = await outboxNextDue(deps.sql);
  if (next !== undefined) await deps.wake.wakeAt(next.getTime());
  return report;
}
