import type { z } from 'zod';

import type { Job } from '../queue/job.ts';
import type { discardMatchingRequest } from '../schemas/discard-matching-request.ts';
import type { discardRequest } from '../schemas/discard-request.ts';
import { jobPageResponse, jobResponse } from '../schemas/job-response.ts';
import type { JobPageResponse } from '../schemas/job-response.ts';
import type { noteDeadLetterRequest } from '../schemas/note-dead-letter-request.ts';
import type { redriveMatchingRequest } from '../schemas/redrive-matching-request.ts';
import type { redriveRequest } from '../schemas/redrive-request.ts';
import type { settleEffectRequest } from '../schemas/settle-effect-request.ts';
import {
  matchingResponse,
  settledEffectResponse,
  settledResponse,
} from '../schemas/settled-response.ts';
import type { DryRunResponse, SettledResponse } from '../schemas/settled-response.ts';
import { orOn } from './outcomes.ts';
import type { PageQuery } from './queue-calls.ts';
import type { Call, CallOptions, Transport } from './transport.ts';

type Outcome<Word extends string> = { readonly outcome: Word };

export interface DeadLetterCalls {
  /** The oldest first. */
  list(
    query?: PageQuery & { readonly queue?: string },
    options?: CallOptions,
  ): Promise<JobPageResponse>;
  /** With all attempts and effects; undefined when no dead job has the id. */
  get(id: string, options?: CallOptions): Promise<Job | undefined>;
  /** Gives it an owner and a note. */
  note(
    id: string,
    note: z.input<typeof noteDeadLetterRequest>,
    options?: CallOptions,
  ): Promise<Job | undefined>;
  /** Says how an uncertain effect ended. `running`: an attempt runs and may yet tell. */
  settleEffect(
    id: string,
    key: string,
    ending: z.input<typeof settleEffectRequest>,
    options?: CallOptions,
  ): Promise<Outcome<'settled' | 'running' | 'not_found'>>;
  /** Sends 1 to 1,000 chosen jobs back; what became of each is in the answer. */
  redrive(order: z.input<typeof redriveRequest>, options?: CallOptions): Promise<SettledResponse>;
  /** Gives 1 to 1,000 chosen jobs up. */
  discard(order: z.input<typeof discardRequest>, options?: CallOptions): Promise<SettledResponse>;
  /**
   * Sends back what fits a filter, if it is as many as expected.
   *
   * @throws {LeaseholdApiError} `count_mismatch` with `actual_count` among its facts
   */
  redriveMatching(
    order: z.input<typeof redriveMatchingRequest>,
    options?: CallOptions,
  ): Promise<DryRunResponse | SettledResponse>;
  /** Gives up what fits a filter, likewise. */
  discardMatching(
    order: z.input<typeof discardMatchingRequest>,
    options?: CallOptions,
  ): Promise<DryRunResponse | SettledResponse>;
}

export function deadLetterCalls(transport: Transport): DeadLetterCalls {
  const settle = async <Value>(
    verb: string,
    body: object,
    answer: Call<Value>['answer'],
    options: CallOptions = {},
  ): Promise<Value> => {
    const path = `/v1/dead-letters/${verb}`;
    return (await transport({ method: 'POST', path, body, keyed: true, answer, ...options })).value;
  };
  return {
    list: async (query = {}, options) => {
      const call = { method: 'GET', path: '/v1/dead-letters', query: { ...query } } as const;
      return (await transport({ ...call, answer: jobPageResponse, ...options })).value;
    },
    get: async (id, options) => {
      const call = { method: 'GET', path: pathOf(id), answer: jobResponse } as const;
      return (await orOn('not_found', undefined, transport({ ...call, ...options })))?.value;
    },
    note: async (id, note, options) => {
      const call = { method: 'PATCH', path: pathOf(id), body: note, answer: jobResponse } as const;
      return (await orOn('not_found', undefined, transport({ ...call, ...options })))?.value;
    },
    settleEffect: async (id, key, ending, options) => {
      const call = transport({
        method: 'POST',
        path: `${pathOf(id)}/effects/${encodeURIComponent(key)}`,
        body: ending,
        keyed: true,
        answer: settledEffectResponse,
        ...options,
      }).then(() => ({ outcome: 'settled' }) as const);
      const known = orOn('job_running', { outcome: 'running' } as const, call);
      return await orOn('not_found', { outcome: 'not_found' } as const, known);
    },
    redrive: (order, options) => settle('redrive', order, settledResponse, options),
    discard: (order, options) => settle('discard', order, settledResponse, options),
    redriveMatching: (order, options) =>
      settle('redrive-matching', order, matchingResponse, options),
    discardMatching: (order, options) =>
      settle('discard-matching', order, matchingResponse, options),
  };
}

function pathOf(id: string): string {
  return `/v1/dead-letters/${encodeURIComponent(id)}`;
}
