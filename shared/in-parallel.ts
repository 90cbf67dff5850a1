/**
 * Runs tasks with at most `limit` in flight, in order of start. One that fails does not stop the others.
 *
 * @returns how many fulfilled and how many rejected
 */
export async function inParallel<Item>(
  items: readonly Item[],
  limit: number,
  task: (item: Item) => Promise<void>,
): Promise<{ readonly fulfilled: number; readonly rejected: number }> {
  const waiting = items[Symbol.iterator]();
  let fulfilled = 0;
  let rejected = 0;
  const lane = async (): Promise<void> => {
    for (const item of waiting) {
      try {
        await task(item);
        fulfilled += 1;
      } catch {
        rejected += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  return { fulfilled, rejected };
}
