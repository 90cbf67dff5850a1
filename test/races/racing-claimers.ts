import { uuidv7 } from 'uuidv7';
import type { Sql } from '../../shared/ports.ts';
import { claim } from '../../shared/queue/claim.ts';
import type { ClaimedJob } from '../../shared/queue/claimed-job.ts';
import { completeAndClaim } from '../../shared/queue/complete-and-claim.ts';
import { complete } from '../../shared/queue/complete.ts';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';
import type { Lease } from '../../shared/queue/lease.ts';

const BATCH = 1000;

export interface RaceInput {
  readonly sql: Sql;
  readonly queue: string;
  readonly jobs: number;
  readonly claimers: number;
  /** Each completion takes the next job in the same call. */
  readonly fused?: boolean;
  /** Ordering keys of the jobs, dealt out in turn; 0: none. */
  readonly keys?: number;
  readonly onProgress?: (done: number) => void;
}

export interface RaceResult {
  /** Every job enqueued. */
  readonly added: ReadonlySet<string>;
  /** `job id / fencing token` of every claim, in the order the answers came. */
  readonly claims: readonly string[];
  /** Job id of every completion that said succeeded. */
  readonly completions: readonly string[];
}

/** Enqueues jobs, then lets claimers race through them, each claim followed by its completion. */
export async function raceThrough(input: RaceInput): Promise<RaceResult> {
  const { sql, queue, jobs, claimers, fused = false, keys = 0 } = input;
  const added = new Set<string>();
  for (let first = 0; first < jobs; first += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, jobs - first) }, (_, i) => ({
      id: uuidv7(),
      queue,
      type: 'race.row',
      payload: first + i,
      ...(keys > 0 && { orderingKey: `key ${(first + i) % keys}` }),
    }));
    await enqueueBatch(sql, { jobs: batch, actor: 'race' });
    for (const job of batch) added.add(job.id);
  }
  const claims: string[] = [];
  const completions: string[] = [];
  const take = async (owner: string): Promise<ClaimedJob | undefined> => {
    const taken = await claim(sql, { queue, owner, claimId: uuidv7() });
    return taken.outcome === 'empty' ? undefined : taken.job;
  };
  const finish = async (lease: Lease): Promise<{ outcome: string; next?: ClaimedJob }> => {
    if (!fused) return { outcome: (await complete(sql, lease)).outcome };
    const end = await completeAndClaim(sql, { ...lease, queue, claimId: uuidv7() });
    const next = end.outcome === 'lease_lost' ? undefined : end.next;
    return { outcome: end.outcome, ...(next !== undefined && { next }) };
  };
  const claimer = async (owner: string): Promise<void> => {
    let job = await take(owner);
    while (job !== undefined) {
      const { jobId, fencingToken } = job;
      claims.push(`${jobId} / ${fencingToken}`);
      const lease = { jobId, owner, fencingToken };
      const { outcome, next } = await finish(lease);
      if (outcome === 'succeeded') completions.push(jobId);
      input.onProgress?.(completions.length);
      job = next ?? (await take(owner));
    }
  };
  await Promise.all(Array.from({ length: claimers }, (_, i) => claimer(`claimer-${i}`)));
  return { added, claims, completions };
}
