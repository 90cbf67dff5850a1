import type { z } from 'zod';

import type { Ids } from '../ports.ts';
import type {
  claimEscalatedRequest,
  completeEscalatedRequest,
} from '../schemas/escalation-requests.ts';
import { heldClaimResponse, settledEscalationResponse } from '../schemas/escalation-responses.ts';
import type {
  HeldClaimResponse,
  HeldJobResponse,
  SettledEscalationResponse,
} from '../schemas/escalation-responses.ts';
import { jobPageResponse } from '../schemas/job-response.ts';
import type { JobPageResponse } from '../schemas/job-response.ts';
import type { LeaseLost, LeaseName } from './lease-calls.ts';
import { orOn } from './outcomes.ts';
import type { PageQuery } from './queue-calls.ts';
import type { CallOptions, Transport } from './transport.ts';

/** An escalated job and the caller's hold on it. */
export type HeldJob = HeldJobResponse;

type Settled = Promise<SettledEscalationResponse | LeaseLost>;

/** What people do with escalated jobs; all but `list` need a token of scope `human`. */
export interface EscalationCalls {
  /** Those that have waited longest first. */
  list(
    query?: PageQuery & { readonly queue?: string },
    options?: CallOptions,
  ): Promise<JobPageResponse>;
  /** Takes one, the one named or the one that has waited longest; null when none is free. */
  claim(
    wanted?: z.input<typeof claimEscalatedRequest>,
    options?: CallOptions,
  ): Promise<HeldClaimResponse>;
  /** The person did the work. */
  complete(
    held: LeaseName,
    end?: Omit<z.input<typeof completeEscalatedRequest>, 'fencing_token'>,
    options?: CallOptions,
  ): Settled;
  /**
   * Back to its queue with fresh budgets; the next holders get the note, 1 to 4,000 characters.
   *
   * @throws {LeaseholdApiError} `dedup_key_taken` with the live job as `clash`; the hold goes on
   */
  sendBack(held: LeaseName, note: string, options?: CallOptions): Settled;
  /** Given up for a reason of 1 to 1,000 characters. */
  discard(held: LeaseName, reason: string, options?: CallOptions): Settled;
  /** The hold ends, and the job goes on waiting for a person. */
  release(held: LeaseName, options?: CallOptions): Settled;
}

/** Claims repeat by claim id and the rest by fencing token, as with leases. */
export function escalationCalls(transport: Transport, ids: Ids): EscalationCalls {
  const settle = async (
    { id, fencing_token }: LeaseName,
    verb: string,
    body: object,
    options: CallOptions = {},
  ): Settled => {
    const call = transport({
      method: 'POST',
      path: `/v1/escalations/${encodeURIComponent(id)}/${verb}`,
      body: { fencing_token, ...body },
      answer: settledEscalationResponse,
      ...options,
    }).then(({ value }) => value);
    return await orOn('lease_lost', { outcome: 'lease_lost' } as const, call);
  };
  return {
    list: async (query = {}, options) => {
      const call = { method: 'GET', path: '/v1/escalations', query: { ...query } } as const;
      return (await transport({ ...call, answer: jobPageResponse, ...options })).value;
    },
    claim: async (wanted = {}, options) => {
      const body = { claim_id: ids.uuidv7(), ...wanted };
      const call = { method: 'POST', path: '/v1/escalations/claims', body } as const;
      return (await transport({ ...call, answer: heldClaimResponse, ...options })).value;
    },
    complete: (held, end = {}, options) => settle(held, 'complete', end, options),
    sendBack: (held, note, options) => settle(held, 'send-back', { note }, options),
    discard: (held, reason, options) => settle(held, 'discard', { reason }, options),
    release: (held, options) => settle(held, 'release', {}, options),
  };
}
