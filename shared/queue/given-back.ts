/** How an attempt ended that was not spent. */
export type GiveBackOutcome =
  | { readonly outcome: 'pending'; readonly dueAt: Date }
  /** The job had been called off. */
  | { readonly outcome: 'cancelled' }
  | { readonly outcome: 'lease_lost' };

export type GiveBackRow =
  { outcome: 'pending'; due_at: Date } | { outcome: 'cancelled' | 'lease_lost'; due_at: null };

export function givenBack(row: GiveBackRow | undefined): GiveBackOutcome {
  if (row === undefined) return { outcome: 'lease_lost' };
  return row.outcome === 'pending'
    ? { outcome: 'pending', dueAt: row.due_at }
    : { outcome: row.outcome };
}
