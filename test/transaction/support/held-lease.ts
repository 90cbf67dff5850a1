import { randomUUID } from 'node:crypto';
import type { Sql } from '../../../shared/ports.ts';
import { claim } from '../../../shared/queue/claim.ts';
import { added, claimed } from '../../sql/support/lease-core.ts';

export type HeldLease = Awaited<ReturnType<typeof claimed>>;

/** A fresh job in a queue of its own, claimed by `worker-a`. */
export async function heldLease(sql: Sql, leaseSeconds?: number): Promise<HeldLease> {
  const queue = randomUUID();
  await added(sql, { queue });
  if (leaseSeconds === undefined) return await claimed(sql, queue);
  const owner = 'worker-a';
  const taken = await claim(sql, { queue, owner, claimId: randomUUID(), leaseSeconds });
  if (taken.outcome === 'empty') throw new Error('nothing was due');
  return { ...taken.job, owner };
}
