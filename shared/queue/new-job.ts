import type { JsonObject, JsonValue } from '../json-value.ts';

/** A preference, not an order: lower classes age past higher ones. */
export const PRIORITIES = ['urgent', 'high', 'normal', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** One job to add. */
export interface NewJob {
  /** UUID version 7 within a day of the database clock; keep it, and a repeat is the same job. */
  readonly id: string;
  /** 1 to 128 characters. */
  readonly queue: string;
  /** 1 to 128 characters. */
  readonly type: string;
  readonly payload: JsonValue;
  /** Default `normal`. */
  readonly priority?: Priority;
  /** 0 to 366 days in milliseconds; default 0. */
  readonly delayMs?: number;
  /** ISO 8601 with an offset, at most 366 days ahead; the past means now. */
  readonly dueAt?: string;
  /** 1 to 100; default: the queue's. */
  readonly maxAttempts?: number;
  /** Small object kept with the job, e.g. its trace context. */
  readonly headers?: JsonObject;
  /** Of the payload; 1 and up, default 1. */
  readonly schemaVersion?: number;
  /** 1 to 100 attempts for failures that nobody has classed; default: the queue's. */
  readonly maxUnknownAttempts?: number;
  /** 1 to 100: the failure that hands it to a person, if its queue escalates; default: the queue's. */
  readonly escalateAfter?: number;
  /** 1 s to 366 days: no retry starts later than this after the first due time; default: the queue's. */
  readonly retryBudgetSeconds?: number;
  /** 1 to 200 characters: jobs of one key run one after another, in the order they were added. */
  readonly orderingKey?: string;
  /** 1 to 200 characters: at most one live job a key. */
  readonly dedupKey?: string;
  /** When a live job has the dedup key: `return` it (default), or `replace` it unless it runs. */
  readonly onDuplicate?: 'return' | 'replace';
  /** Up to 20 of 1 to 100 characters, to find the job by. */
  readonly tags?: readonly string[];
}

/** The JSON text that `leasehold.enqueue_batch` takes. */
export function newJobsAsJson(jobs: readonly NewJob[]): string {
  return JSON.stringify(
    jobs.map((job) => ({
      id: job.id,
      queue: job.queue,
      type: job.type,
      payload: job.payload,
      delay_ms: job.delayMs,
      due_at: job.dueAt,
      priority: job.priority,
      max_attempts: job.maxAttempts,
      headers: job.headers,
      schema_version: job.schemaVersion,
      max_unknown_attempts: job.maxUnknownAttempts,
      escalate_after: job.escalateAfter,
      retry_budget_seconds: job.retryBudgetSeconds,
      ordering_key: job.orderingKey,
      dedup_key: job.dedupKey,
      on_duplicate: job.onDuplicate,
      tags: job.tags,
    })),
  );
}
