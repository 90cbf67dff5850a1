/** -1, 0 or 1: the order of two cursors in the log: by transaction, job events before queue events, by number. */
export function compareCursors(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  return (
    compare(left.xact, right.xact) || compare(left.kind, right.kind) || compare(left.id, right.id)
  );
}

export function laterCursor(a: string, b: string): string {
  return compareCursors(a, b) >= 0 ? a : b;
}

function partsOf(cursor: string): { xact: bigint; kind: string; id: bigint } {
  const split = cursor.indexOf('_');
  return {
    xact: BigInt(cursor.slice(0, split)),
    kind: cursor.slice(split + 1, split + 2),
    id: BigInt(cursor.slice(split + 2)),
  };
}

function compare<Value extends bigint | string>(a: Value, b: Value): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
