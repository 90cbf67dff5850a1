/** What a promise rejects with, as a value that can be awaited later: no rejection goes unhandled meanwhile. */
export function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}
