/** The part that is used here; workerd has it, and the types of Workers do not say so. */
declare module 'node:async_hooks' {
  export class AsyncLocalStorage<Store> {
    run<Result>(store: Store, during: () => Result): Result;
    getStore(): Store | undefined;
  }
}
