export type ReplayState =
  'none' | 'pending' | 'running' | 'dead' | 'escalated' | 'held' | 'succeeded' | 'cancelled';

/** What an event does to the state of a job. */
export interface Step {
  /** States that it can follow. */
  readonly from: readonly ReplayState[];
  readonly to?: ReplayState;
  /** Of the attempt, or of the hold, that it ends. */
  readonly outcome?: string;
  /** Only whoever holds the job can cause it: under the token of the newest claim, by its owner, before it ran out. */
  readonly report?: true;
}

/** Which events a state may have, and which state comes of it; what is not here cannot follow. */
export const STEPS: Readonly<Record<string, Step>> = {
  created: { from: ['none'], to: 'pending' },
  claimed: { from: ['pending'], to: 'running' },
  heartbeat: { from: ['running'], report: true },
  progressed: { from: ['running'], report: true },
  cancel_requested: { from: ['running'] },
  effect_started: { from: ['running'], report: true },
  effect_done: { from: ['running'], report: true },
  effect_uncertain: { from: ['running'], report: true },
  effect_settled: {
    from: ['pending', 'running', 'dead', 'escalated', 'held', 'succeeded', 'cancelled'],
  },
  completed: { from: ['running'], to: 'succeeded', outcome: 'succeeded', report: true },
  failed: { from: ['running'], to: 'pending', outcome: 'failed', report: true },
  snoozed: { from: ['running'], to: 'pending', outcome: 'snoozed', report: true },
  released: { from: ['running'], to: 'pending', outcome: 'released', report: true },
  lease_expired: { from: ['running'], to: 'pending', outcome: 'lease_expired' },
  dead: { from: ['pending'], to: 'dead' },
  escalated: { from: ['pending'], to: 'escalated' },
  // After a completion too: a job called off while it ran ends as cancelled although its attempt succeeded.
  cancelled: { from: ['pending', 'succeeded'], to: 'cancelled' },
  redriven: { from: ['dead'], to: 'pending' },
  discarded: { from: ['dead'], to: 'cancelled' },
  noted: { from: ['dead', 'escalated', 'held'] },
  unparked: { from: ['pending'] },
  edited: { from: ['pending'] },
};

/** The holder asks a person: their attempt ends by what comes of it, and has no event of its own. */
export const STEPS_OF_ASKING: Readonly<Record<string, Step>> = {
  escalated: { from: ['running'], to: 'escalated', outcome: 'escalated', report: true },
  // The job had been called off.
  cancelled: { from: ['running'], to: 'cancelled', outcome: 'escalated' },
};

/** What people do: events with `"lane": "human"`. Their hold is an attempt of its own, and spends none. */
export const STEPS_OF_PEOPLE: Readonly<Record<string, Step>> = {
  claimed: { from: ['escalated'], to: 'held' },
  heartbeat: { from: ['held'], report: true },
  completed: { from: ['held'], to: 'succeeded', outcome: 'succeeded', report: true },
  redriven: { from: ['held'], to: 'pending', outcome: 'sent_back', report: true },
  discarded: { from: ['held'], to: 'cancelled', outcome: 'discarded', report: true },
  released: { from: ['held'], to: 'escalated', outcome: 'released', report: true },
  lease_expired: { from: ['held'], to: 'escalated', outcome: 'lease_expired' },
};
