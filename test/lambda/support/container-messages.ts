export interface ContainerEvent {
  readonly event: unknown;
  /** Milliseconds since the Unix epoch. */
  readonly deadlineAt: number;
  /** What Lambda puts into the environment; the SDK hands it on, so that chains of invocations are counted. */
  readonly trace: string;
}

export type ContainerAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'returned'; readonly result: unknown }
  /** All that was written, the prelude included. */
  | { readonly kind: 'streamed'; readonly base64: string }
  | { readonly kind: 'threw'; readonly name: string; readonly message: string };
