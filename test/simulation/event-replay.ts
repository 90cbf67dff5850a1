/** One row of the event log, as far as the state of a job follows from it. */
export interface LoggedEvent {
  readonly type: string;
  readonly fencing_token: string | null;
  /** `human`: of a person who holds an escalated job. */
  readonly lane?: string | null;
}

export interface ReplayedState {
  readonly state:
    'none' | 'pending' | 'running' | 'dead' | 'escalated' | 'held' | 'succeeded' | 'cancelled';
  readonly token: number;
  readonly redrives: number;
}

/** What a job is after a person's word on it. */
const AFTER_HOLD: Readonly<Record<string, ReplayedState['state']>> = {
  heartbeat: 'held',
  completed: 'succeeded',
  redriven: 'pending',
  discarded: 'cancelled',
  released: 'escalated',
  lease_expired: 'escalated',
};

/**
 * The state of a job from its log alone. Throws when a row cannot follow the one before it: a claim of a running job, a token
 * that does not grow, a report without a claim.
 */
export function replay(events: readonly LoggedEvent[]): ReplayedState {
  let state: ReplayedState['state'] = 'none';
  let token = 0;
  let redrives = 0;
  const expect = (condition: boolean, event: LoggedEvent): void => {
    if (!condition)
      throw new Error(
        `${event.type} (token ${event.fencing_token}) cannot follow ${state} (token ${token})`,
      );
  };
  for (const event of events) {
    const its = Number(event.fencing_token ?? 0);
    if (event.lane === 'human') {
      if (event.type === 'claimed') {
        expect(state === 'escalated' && its === token + 1, event);
        state = 'held';
        token = its;
        continue;
      }
      expect(state === 'held' && its === token, event);
      const next = AFTER_HOLD[event.type];
      if (next === undefined) throw new Error(`unknown event of a person: ${event.type}`);
      state = next;
      redrives += Number(event.type === 'redriven');
      continue;
    }
    switch (event.type) {
      case 'created':
        expect(state === 'none', event);
        state = 'pending';
        break;
      case 'claimed':
        expect(state === 'pending' && its === token + 1, event);
        state = 'running';
        token = its;
        break;
      case 'heartbeat':
      case 'progressed':
      case 'cancel_requested':
        expect(state === 'running' && its === token, event);
        break;
      case 'completed':
        expect(state === 'running' && its === token, event);
        state = 'succeeded';
        break;
      case 'failed':
      case 'snoozed':
      case 'released':
      case 'lease_expired':
        expect(state === 'running' && its === token, event);
        state = 'pending';
        break;
      case 'dead':
        expect(state === 'pending', event);
        state = 'dead';
        break;
      case 'escalated':
        // Of a job that is out of attempts, or of one whose holder asks.
        expect(state === 'pending' || (state === 'running' && its === token), event);
        state = 'escalated';
        break;
      case 'cancelled':
        // After a completion too: a job called off while it ran ends as cancelled although its attempt succeeded.
        // And straight from a holder who asked a person.
        expect(
          state === 'pending' || state === 'succeeded' || (state === 'running' && its === token),
          event,
        );
        state = 'cancelled';
        break;
      case 'redriven':
        expect(state === 'dead', event);
        state = 'pending';
        redrives += 1;
        break;
      case 'discarded':
        expect(state === 'dead', event);
        state = 'cancelled';
        break;
      case 'unparked':
      case 'edited':
        expect(state === 'pending', event);
        break;
      default:
        throw new Error(`unknown event ${event.type}`);
    }
  }
  return { state, token, redrives };
}
