/** What a person decided on quarantined events. */
export interface ChosenEventsInput {
  /** 1 to 100. */
  readonly eventIds: readonly string[];
  /** Mandatory, 1 to 1,000 characters. */
  readonly reason: string;
  readonly actor: string;
}

export interface ChosenEvent<Outcome extends string> {
  readonly eventId: string;
  /** `not_quarantined`: nothing was changed. */
  readonly outcome: Outcome | 'not_quarantined';
}
