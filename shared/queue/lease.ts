/** Names a lease: every call of its holder carries all three, and zero rows means that it is lost. */
export interface Lease {
  readonly jobId: string;
  readonly owner: string;
  /** As claimed; a 64-bit number as text. */
  readonly fencingToken: string;
}
