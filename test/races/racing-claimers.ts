import { uuidv7 } from 'uuidv7';
import type { Sql } from '../../shared/ports.ts';
import { claim } from '../../shared/queue/claim.ts';
import { complete } from '../../shared/queue/complete.ts';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';

const BATCH = 1000;

export interface RaceInput {
  readonly sql: Sql;
  readonly queue: string;
  readonly jobs: number;
  readonly claimers: number;
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
  const { sql, queue, jobs, claimers } = input;
  const added = new Set<string>();
  for (let first = 0; first < jobs; first += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, jobs - first) }, (_, i) => ({
      id: uuidv7(),
      queue,
      type: 'race.row',
      payload: first + i,
    }));
    await enqueueBatch(sql, { jobs: batch, actor: 'race' });
    for (const job of batch) added.add(job.id);
  }
  const claims: string[] = [];
  const completions: string[] = [];
  const claimer = async (owner: string): Promise<void> => {
    for (;;) {
      const taken = await claim(sql, { queue, owner, claimId: uuidv7() });
      if (taken.outcome === 'empty') return;
      const { jobId, fencingToken } = taken.job;
      claims.push(`${jobId} / ${fencingToken}`);
      const end = await complete(sql, { jobId, owner, fencingToken });
      if (end.outcome === 'succeeded') completions.push(jobId);
      input.onProgress?.(completions.length);
    }
  };
  await Promise.all(Array.from({ length: claimers }, (_, i) => claimer(`claimer-${i}`)));
  return { added, claims, completions };
}
