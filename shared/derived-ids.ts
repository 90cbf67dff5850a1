import type { Ids } from './ports.ts';

/** Ids of one millisecond that differ in their 12-bit field. */
const IDS_PER_MS = 4096;

/**
 * The ids that a request makes when it must be possible to make them again: a request that was cut off and comes once
 * more with its idempotency key makes the same rows.
 *
 * Each is a UUID of version 7: the time is that of the first call, the next 12 bits count, and the last 62 are the
 * random bits of the seed. So they sort in the order they were made, and two requests never share one.
 *
 * @param seed a UUID of this request alone, kept with its key
 * @param createdAt when the key was first seen, by the database clock
 * @example derivedIds(begun.seed, begun.createdAt).uuidv7()
 */
export function derivedIds(seed: string, createdAt: Date): Ids {
  let made = 0;
  return {
    uuidv7: () => {
      const id = derivedId(seed, createdAt.getTime(), made);
      made += 1;
      return id;
    },
  };
}

/** @param at the how-manieth id of the request, from 0 */
export function derivedId(seed: string, createdAtMs: number, at: number): string {
  const time = (createdAtMs + Math.floor(at / IDS_PER_MS)).toString(16).padStart(12, '0');
  const count = (at % IDS_PER_MS).toString(16).padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${variantOf(seed)}-${seed.slice(24).toLowerCase()}`;
}

/** The group that begins with the two variant bits, 8 to b. */
function variantOf(seed: string): string {
  const first = (Number.parseInt(seed.slice(19, 20), 16) & 0b0011) | 0b1000;
  return `${first.toString(16)}${seed.slice(20, 23).toLowerCase()}`;
}
