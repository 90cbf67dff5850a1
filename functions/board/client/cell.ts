/** A value that can be watched. */
export interface Cell<T> {
  readonly get: () => T;
  readonly set: (value: T) => void;
  /** @returns what ends the watch */
  readonly watch: (listener: () => void) => () => void;
}

export function cell<T>(initial: T): Cell<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
