import { z } from 'zod';

import type { scheduleRequest } from '../schemas/schedule-request.ts';
import { schedulePageResponse, scheduleResponse } from '../schemas/schedule-response.ts';
import type { SchedulePageResponse, ScheduleResponse } from '../schemas/schedule-response.ts';
import { orOn } from './outcomes.ts';
import type { PageQuery } from './queue-calls.ts';
import type { CallOptions, Transport } from './transport.ts';

export interface ScheduleCalls {
  /** By name. */
  list(query?: PageQuery, options?: CallOptions): Promise<SchedulePageResponse>;
  get(name: string, options?: CallOptions): Promise<ScheduleResponse | undefined>;
  /** Makes the schedule or replaces it; check `next_slots` in the answer. */
  put(
    name: string,
    schedule: z.input<typeof scheduleRequest>,
    options?: CallOptions,
  ): Promise<ScheduleResponse>;
  /** Afterwards there is none of this name, whether there was one or not: a repeat cannot tell. */
  delete(name: string, options?: CallOptions): Promise<void>;
  /** Slots that pass meanwhile are not made up for. Undefined: no such schedule. */
  pause(name: string, options?: CallOptions): Promise<ScheduleResponse | undefined>;
  resume(name: string, options?: CallOptions): Promise<ScheduleResponse | undefined>;
}

export function scheduleCalls(transport: Transport): ScheduleCalls {
  const turn = async (name: string, verb: string, options: CallOptions = {}) => {
    const path = `${pathOf(name)}/${verb}`;
    const call = { method: 'POST', path, keyed: true, answer: scheduleResponse } as const;
    return (await orOn('not_found', undefined, transport({ ...call, ...options })))?.value;
  };
  return {
    list: async (query = {}, options) => {
      const call = { method: 'GET', path: '/v1/schedules', query: { ...query } } as const;
      return (await transport({ ...call, answer: schedulePageResponse, ...options })).value;
    },
    get: async (name, options) => {
      const call = { method: 'GET', path: pathOf(name), answer: scheduleResponse } as const;
      return (await orOn('not_found', undefined, transport({ ...call, ...options })))?.value;
    },
    put: async (name, schedule, options) => {
      const call = { method: 'PUT', path: pathOf(name), body: schedule } as const;
      return (await transport({ ...call, answer: scheduleResponse, ...options })).value;
    },
    delete: async (name, options) => {
      const call = { method: 'DELETE', path: pathOf(name), answer: z.undefined() } as const;
      await orOn('not_found', undefined, transport({ ...call, ...options }));
    },
    pause: (name, options) => turn(name, 'pause', options),
    resume: (name, options) => turn(name, 'resume', options),
  };
}

function pathOf(name: string): string {
  return `/v1/schedules/${encodeURIComponent(name)}`;
}
