import { median, percentile } from '../support/stats.ts';
import type { ControlSystem } from './control-system.ts';

const MOST_CLAIMS = 500;
const WARM_UP_CLAIMS = 10;
const BUFFER_CLAIMS = 5;

export interface ClaimMeasure {
  readonly p50: number;
  readonly p99: number;
  readonly buffers: number;
}

export interface ClaimDepths {
  /** Ascending. */
  readonly depths: readonly number[];
  readonly held: number;
  readonly claimSeconds: number;
}

/** Claims on one connection at each depth, then at the last depth behind running jobs. */
export async function measureClaims(
  system: ControlSystem,
  { depths, held, claimSeconds }: ClaimDepths,
): Promise<readonly ClaimMeasure[]> {
  const measures: ClaimMeasure[] = [];
  for (const depth of depths) {
    const missing = depth - (await system.pending());
    if (missing > 0) await system.fill(missing);
    measures.push(await measureHere(system, claimSeconds));
  }
  await system.hold(held);
  measures.push(await measureHere(system, claimSeconds));
  return measures;
}

async function measureHere(system: ControlSystem, seconds: number): Promise<ClaimMeasure> {
  await system.settle();
  const client = await system.database.connect();
  try {
    const ms: number[] = [];
    const begun = performance.now();
    for (let made = 0; made < MOST_CLAIMS; made += 1) {
      if (performance.now() - begun > seconds * 1000 && ms.length > 0) break;
      const claim = await system.claimOnce(client);
      if (!claim.found) throw new Error(`${system.name}: the backlog ran dry.`);
      if (made >= WARM_UP_CLAIMS) ms.push(claim.ms);
    }
    const buffers: number[] = [];
    for (let made = 0; made < BUFFER_CLAIMS; made += 1) {
      buffers.push(await system.claimBuffers(client));
    }
    return { p50: percentile(ms, 50), p99: percentile(ms, 99), buffers: median(buffers) };
  } finally {
    await client.end();
  }
}
