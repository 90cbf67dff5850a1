import type { BoardEvent, JobSummary } from '../../functions/board/client/wire.ts';

/** A job as lists have it; ids that sort are enough here. */
export function jobRow(id: string, more: Partial<JobSummary> = {}): JobSummary {
  return {
    id,
    queue: 'emails',
    type: 'email.welcome',
    state: 'pending',
    tags: [],
    ordering_key: null,
    dedup_key: null,
    dead: null,
    escalated: null,
    ...more,
  } as JobSummary;
}

export function logEvent(id: string, more: Partial<BoardEvent> = {}): BoardEvent {
  return {
    id,
    cursor: null,
    job_id: 'a',
    queue: 'emails',
    job_type: 'email.welcome',
    type: 'claimed',
    actor: 'agent-7',
    at: '2030-05-17T12:00:00Z',
    fencing_token: '1',
    details: null,
    ...more,
  };
}
