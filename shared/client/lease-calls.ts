import type { z } from 'zod';

import type { Ids } from '../ports.ts';
import type { claimQueuesRequest } from '../schemas/claim-queues-request.ts';
import type { ClaimRequest } from '../schemas/claim-request.ts';
import { claimResponse } from '../schemas/claim-response.ts';
import type { ClaimResponse, LeasedJobResponse } from '../schemas/claim-response.ts';
import type { completeRequest } from '../schemas/complete-request.ts';
import type { failRequest } from '../schemas/fail-request.ts';
import type { HeartbeatRequest } from '../schemas/heartbeat-request.ts';
import {
  completeResponse,
  escalateResponse,
  failResponse,
  givenBackResponse,
  heartbeatResponse,
} from '../schemas/lease-responses.ts';
import type {
  CompleteResponse,
  EscalateResponse,
  FailResponse,
  GivenBackResponse,
  HeartbeatResponse,
} from '../schemas/lease-responses.ts';
import type { SnoozeRequest } from '../schemas/snooze-request.ts';
import { orOn } from './outcomes.ts';
import type { Call, CallOptions, Transport } from './transport.ts';

/** A job and the lease on it, as a claim gives it. */
export type LeasedJob = LeasedJobResponse;

/** Names a lease: the job and the fencing token of the claim. A leased job is one. */
export type LeaseName = Pick<LeasedJob, 'id' | 'fencing_token'>;

/** Someone else may hold the job, or it has ended: stop, and report nothing more. */
export interface LeaseLost {
  readonly outcome: 'lease_lost';
}

type Without<Request> = Omit<Request, 'fencing_token'>;
export type ClaimOptions = CallOptions & Omit<ClaimRequest, 'limit'>;
export type ClaimBatchOptions = CallOptions & ClaimRequest;
export type ClaimQueuesInput = z.input<typeof claimQueuesRequest>;
export type Completion = Without<z.input<typeof completeRequest>>;
export type Failure = Without<z.input<typeof failRequest>>;

/** What a claim took, and when: the lease is counted from then by the local clock. */
export interface Claimed extends ClaimResponse {
  /** Local milliseconds when the request went out that was answered. */
  readonly sentAt: number;
}

/** How a job ended, and the next one where `claim_next` asked for it: null when there was none. */
export interface Completed extends CompleteResponse {
  /** Local milliseconds when the request went out that was answered: the lease on `next` is counted from then. */
  readonly sentAt: number;
}

/** One try of a report is enough for a caller that tries again by itself. */
export type ReportOptions = CallOptions & { readonly maxTries?: number };

export interface LeaseCalls {
  /** Leases one job of a queue, or tells that there is none. `wait`: 0 to 20 s. */
  claim(
    queue: string,
    options?: ClaimOptions,
  ): Promise<
    { readonly outcome: 'claimed'; readonly job: LeasedJob } | { readonly outcome: 'empty' }
  >;
  /** Leases up to `limit` jobs of a queue, none when there is nothing. */
  claimBatch(queue: string, options?: ClaimBatchOptions): Promise<Claimed>;
  /** The same from the first of several queues that has any, tried in a weighted random order. */
  claimFromQueues(input: ClaimQueuesInput, options?: CallOptions): Promise<Claimed>;
  /** Renews a lease against proof of progress: a `step` that grew or a `progress` that moved. */
  heartbeat(
    lease: LeaseName,
    beat: Without<HeartbeatRequest>,
    options?: ReportOptions,
  ): Promise<(HeartbeatResponse & { readonly sentAt: number }) | LeaseLost>;
  /** The work is done. With `claim_next`, the next job of a queue comes with the same call; after a lost lease none does. */
  complete(
    lease: LeaseName,
    end?: Completion,
    options?: ReportOptions,
  ): Promise<Completed | LeaseLost>;
  /** The attempt failed. `escalated`: the job waits for a person. */
  fail(
    lease: LeaseName,
    failure: Failure,
    options?: ReportOptions,
  ): Promise<FailResponse | EscalateResponse | LeaseLost>;
  /** A person is asked: the attempt ends, and the job waits for whoever takes it. `question`: 1 to 4,000 characters. */
  escalate(
    lease: LeaseName,
    question: string,
    options?: ReportOptions,
  ): Promise<EscalateResponse | LeaseLost>;
  /** Gives the job back, for anyone. */
  release(
    lease: LeaseName,
    options?: ReportOptions & { readonly reason?: string },
  ): Promise<GivenBackResponse | LeaseLost>;
  /** Not now: the job waits, and no attempt is spent. */
  snooze(
    lease: LeaseName,
    pause: Without<SnoozeRequest>,
    options?: ReportOptions,
  ): Promise<GivenBackResponse | LeaseLost>;
}

const LEASE_LOST: LeaseLost = { outcome: 'lease_lost' };

/** Claims repeat by claim id, reports by fencing token: neither needs an `Idempotency-Key`, which would cost a heartbeat twice. */
export function leaseCalls(transport: Transport, ids: Ids): LeaseCalls {
  const claimAt = async (
    path: string,
    request: object & { wait?: number | undefined },
    options: CallOptions,
  ): Promise<Claimed> => {
    const { value, sentAt } = await transport({
      method: 'POST',
      path,
      body: { claim_id: ids.uuidv7(), ...request },
      waitSeconds: request.wait,
      answer: claimResponse,
      ...options,
    });
    return { ...value, sentAt };
  };
  const claimBatch: LeaseCalls['claimBatch'] = async (queue, { signal, ...request } = {}) =>
    await claimAt(`/v1/queues/${encodeURIComponent(queue)}/claims`, request, { signal });
  const report = async <Value>(
    { id, fencing_token }: LeaseName,
    verb: string,
    answer: Call<Value>['answer'],
    body: object,
    options: ReportOptions = {},
  ): Promise<(Value & { readonly sentAt: number }) | LeaseLost> => {
    const call = transport({
      method: 'POST',
      path: `/v1/leases/${encodeURIComponent(id)}/${verb}`,
      body: { fencing_token, ...body },
      answer,
      ...options,
    }).then(({ value, sentAt }) => ({ ...value, sentAt }));
    return await orOn('lease_lost', LEASE_LOST, call);
  };
  return {
    claim: async (queue, options) => {
      const { jobs } = await claimBatch(queue, { ...options, limit: 1 });
      const [job] = jobs;
      return job === undefined ? { outcome: 'empty' } : { outcome: 'claimed', job };
    },
    claimBatch,
    claimFromQueues: async (input, options = {}) => await claimAt('/v1/claims', input, options),
    heartbeat: async (lease, beat, options) =>
      await report(lease, 'heartbeat', heartbeatResponse, beat, options),
    complete: async (lease, end = {}, options = {}) => {
      const claimNext = end.claim_next && { claim_id: ids.uuidv7(), ...end.claim_next };
      const body = { ...end, claim_next: claimNext };
      return await report(lease, 'complete', completeResponse, body, options);
    },
    fail: async (lease, failure, options) => {
      const end = await report(lease, 'fail', failResponse, failure, options);
      return end.outcome === 'dead' && end.escalated === true
        ? { outcome: 'escalated', more_due: end.more_due }
        : end;
    },
    escalate: async (lease, question, options) =>
      await report(lease, 'escalate', escalateResponse, { question }, options),
    release: async (lease, { reason, ...options } = {}) =>
      await report(lease, 'release', givenBackResponse, { reason }, options),
    snooze: async (lease, pause, options) =>
      await report(lease, 'snooze', givenBackResponse, pause, options),
  };
}
