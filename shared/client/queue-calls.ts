import type { z } from 'zod';

import type { Overview } from '../queue/overview.ts';
import type { QueueDocument } from '../queue/queue-settings.ts';
import { overviewResponse } from '../schemas/overview-response.ts';
import type { queueSettingsRequest } from '../schemas/queue-settings-request.ts';
import {
  blockedKeysResponse,
  queuePageResponse,
  queueResponse,
  switchedQueueResponse,
} from '../schemas/queue-response.ts';
import type {
  BlockedKeysResponse,
  QueuePageResponse,
  SwitchedQueueResponse,
} from '../schemas/queue-response.ts';
import { orOn } from './outcomes.ts';
import type { CallOptions, Transport } from './transport.ts';

export interface PageQuery {
  /** 1 to 200; default 50. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

type Switch = CallOptions & { readonly reason?: string };

export interface QueueCalls {
  /** How they fare, the one that waits longest first; each call wakes a database that sleeps. */
  overview(options?: CallOptions): Promise<Overview>;
  /** By name. */
  list(query?: PageQuery, options?: CallOptions): Promise<QueuePageResponse>;
  get(queue: string, options?: CallOptions): Promise<QueueDocument | undefined>;
  /** Makes the queue or changes the settings that are named; null takes a limit or the target away. */
  put(
    queue: string,
    settings: z.input<typeof queueSettingsRequest>,
    options?: CallOptions,
  ): Promise<QueueDocument>;
  /** Stops claims; what runs goes on. A queue that is not there is made. */
  pause(queue: string, options?: Switch): Promise<SwitchedQueueResponse>;
  resume(queue: string, options?: Switch): Promise<SwitchedQueueResponse>;
  /** Ordering keys with jobs that wait, and the job in front of each. */
  blockedKeys(
    queue: string,
    query?: PageQuery,
    options?: CallOptions,
  ): Promise<BlockedKeysResponse>;
}

export function queueCalls(transport: Transport): QueueCalls {
  const turn = async (queue: string, verb: string, { reason, ...options }: Switch) => {
    const { value } = await transport({
      method: 'POST',
      path: `${pathOf(queue)}/${verb}`,
      body: { reason },
      keyed: true,
      answer: switchedQueueResponse,
      ...options,
    });
    return value;
  };
  return {
    overview: async (options) => {
      const call = { method: 'GET', path: '/v1/overview', answer: overviewResponse } as const;
      return (await transport({ ...call, ...options })).value;
    },
    list: async (query = {}, options) => {
      const call = { method: 'GET', path: '/v1/queues', query: { ...query } } as const;
      return (await transport({ ...call, answer: queuePageResponse, ...options })).value;
    },
    get: async (queue, options) => {
      const call = { method: 'GET', path: pathOf(queue), answer: queueResponse } as const;
      return (await orOn('not_found', undefined, transport({ ...call, ...options })))?.value;
    },
    put: async (queue, settings, options) => {
      const call = { method: 'PUT', path: pathOf(queue), body: settings } as const;
      return (await transport({ ...call, answer: queueResponse, ...options })).value;
    },
    pause: (queue, options = {}) => turn(queue, 'pause', options),
    resume: (queue, options = {}) => turn(queue, 'resume', options),
    blockedKeys: async (queue, query = {}, options) => {
      const path = `${pathOf(queue)}/blocked-keys`;
      const call = { method: 'GET', path, query: { ...query } } as const;
      return (await transport({ ...call, answer: blockedKeysResponse, ...options })).value;
    },
  };
}

function pathOf(queue: string): string {
  return `/v1/queues/${encodeURIComponent(queue)}`;
}
