import type pg from 'pg';
import { uuidv7 } from 'uuidv7';
import type { BenchDatabase } from './bench-database.ts';
import type { WorkOptions } from './systems/queue-system.ts';

/** The rest of a client that found nothing. */
export const EMPTY_REST_MS = 5;

/** What is sent: `claim` with owner and claim id, `complete` with job id, owner and fencing token. */
export interface LoopStatements {
  readonly claim: string;
  readonly complete: string;
}

/** The columns that every claim gives, and the attempt where it counts them. */
export interface ClaimedRow {
  readonly job_id: string;
  readonly fencing_token: string;
  readonly attempt?: number;
}

export interface LoopOptions extends WorkOptions {
  /** Called as soon as a claim is answered. */
  readonly onClaim?: (job: ClaimedRow) => void;
}

/** Each client claims a job and completes it, over and over, on a connection of its own. */
export async function claimLoop(
  database: Pick<BenchDatabase, 'connect'>,
  statements: LoopStatements,
  options: LoopOptions,
): Promise<void> {
  const clients = await Promise.all(
    Array.from({ length: options.clients }, () => database.connect()),
  );
  try {
    await Promise.all(
      clients.map((client, index) => workAlone(client, `bench-${index}`, statements, options)),
    );
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

async function workAlone(
  client: pg.Client,
  owner: string,
  { claim, complete }: LoopStatements,
  { signal, onClaim, onJob, onEmpty }: LoopOptions,
): Promise<void> {
  while (!signal.aborted) {
    const begun = performance.now();
    const { rows } = await client.query<ClaimedRow>(claim, [owner, uuidv7()]);
    const claimed = performance.now();
    const [job] = rows;
    if (job === undefined) {
      onEmpty?.(claimed - begun);
      await new Promise((resolve) => setTimeout(resolve, EMPTY_REST_MS));
      continue;
    }
    onClaim?.(job);
    await client.query(complete, [job.job_id, owner, job.fencing_token]);
    onJob({ claimMs: claimed - begun, totalMs: performance.now() - begun });
  }
}
