import type { BenchServer } from './bench-database.ts';
import { openGraphile } from './systems/graphile-worker.ts';
import { hasFused, openLeasehold } from './systems/leasehold.ts';
import { openPgBoss } from './systems/pg-boss.ts';
import type { QueueSystem } from './systems/queue-system.ts';

/** The names under which results are looked up. */
export const OURS = 'Leasehold, two-call';
export const OURS_FUSED = 'Leasehold, fused';
export const GRAPHILE = 'graphile-worker, unbatched';
export const GRAPHILE_BATCHED = 'graphile-worker, batched';
export const PG_BOSS = 'pg-boss';

/** Ours in both forms, each on its own database, then the peers. */
export async function openAll(server: BenchServer): Promise<QueueSystem[]> {
  const ours = await openLeasehold(server, 'two-call');
  const fused = (await hasFused(ours.database)) ? [await openLeasehold(server, 'fused')] : [];
  return [
    ours,
    ...fused,
    await openGraphile(server, 'unbatched'),
    await openGraphile(server, 'batched'),
    await openPgBoss(server),
  ];
}

/** Closes them one after the other, all of them even when one fails. */
export async function closeAll(systems: readonly QueueSystem[]): Promise<void> {
  for (const system of systems) await system.close().catch(() => undefined);
}
