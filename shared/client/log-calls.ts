import type { PastBoard } from '../queue/board-at.ts';
import type { JobState } from '../queue/job.ts';
import type { LogEventType, LogOrder } from '../queue/log-event.ts';
import {
  jobHistoryResponse,
  logEventPageResponse,
  pastBoardResponse,
} from '../schemas/log-response.ts';
import type { JobHistoryResponse, LogEventPageResponse } from '../schemas/log-response.ts';
import { followLog } from './follow-log.ts';
import type { FollowOptions, Followed } from './follow-log.ts';
import { orOn } from './outcomes.ts';
import type { CallOptions, Transport, TransportOptions } from './transport.ts';

export interface LogQuery {
  /** What a page begins with, `oldest` unless you say so. */
  readonly order?: LogOrder;
  /** `next_cursor` of the page before, in the same order; left out: from the beginning, or from the newest. */
  readonly cursor?: string;
  readonly queue?: string;
  readonly actor?: string;
  readonly type?: LogEventType;
  /** 1 to 200; default 50. */
  readonly limit?: number;
}

export interface PastBoardQuery {
  readonly at: Date | string;
  readonly queue?: string;
  readonly state?: JobState;
  /** 1 to 200; default 50. */
  readonly limit?: number;
  /** `next_before` of the page before. */
  readonly before?: string;
}

export interface LogCalls {
  /**
   * Events of all jobs and queues, oldest first. Ask on with `next_cursor`: at once while `more` is true. Newest first it is
   * null where the log begins.
   */
  read(query?: LogQuery, options?: CallOptions): Promise<LogEventPageResponse>;
  /** Events of one job, oldest first; undefined when there is no such job. Ask on with `next_after`. */
  history(
    jobId: string,
    query?: { readonly after?: string; readonly limit?: number },
    options?: CallOptions,
  ): Promise<JobHistoryResponse | undefined>;
  /** The board at a past moment: jobs as they were, newest first; the first page has counts and queues as well. */
  boardAt(query: PastBoardQuery, options?: CallOptions): Promise<PastBoard>;
  /**
   * Each event as it happens, until the signal fires; a stream that is cut is taken up where it was.
   *
   * @example for await (const message of client.log.follow({ queue: 'emails' })) …
   */
  follow(options?: FollowOptions): AsyncGenerator<Followed, void, void>;
}

export function logCalls(transport: Transport, options: TransportOptions): LogCalls {
  return {
    read: async (query = {}, callOptions) => {
      const { value } = await transport({
        method: 'GET',
        path: '/v1/events',
        query: { ...query },
        answer: logEventPageResponse,
        ...callOptions,
      });
      return value;
    },
    history: async (jobId, query = {}, callOptions) => {
      const call = transport({
        method: 'GET',
        path: `/v1/jobs/${encodeURIComponent(jobId)}/events`,
        query: { ...query },
        answer: jobHistoryResponse,
        ...callOptions,
      });
      return (await orOn('not_found', undefined, call))?.value;
    },
    boardAt: async ({ at, ...query }, callOptions) => {
      const { value } = await transport({
        method: 'GET',
        path: '/v1/board',
        query: { at: typeof at === 'string' ? at : at.toISOString(), ...query },
        answer: pastBoardResponse,
        ...callOptions,
      });
      return value;
    },
    follow: (followOptions) => followLog(options, followOptions),
  };
}
