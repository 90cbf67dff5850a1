import type { Sql, SqlOptions } from '../ports.ts';

/** Settings of a queue; one that is absent stays as it is. */
export interface ConfigureQueueInput {
  readonly queue: string;
  /** 1 to 3,600; default 30. */
  readonly leaseSeconds?: number;
  /** 1 to 86,400: no heartbeat carries an attempt past it; default 900. */
  readonly maxRunSeconds?: number;
  /** 1 to 100, for jobs enqueued from now on; default 5. */
  readonly maxAttempts?: number;
  /** 0 to 30 days; default 2,000. */
  readonly backoffBaseMs?: number;
  /** 0 to 30 days; default 3,600,000. */
  readonly backoffCapMs?: number;
}

/**
 * Makes a queue or changes its settings. Safe to repeat.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field and its range.
 * @example await configureQueue(sql, { queue: 'emails', leaseSeconds: 60 });
 */
export async function configureQueue(
  sql: Sql,
  input: ConfigureQueueInput,
  options?: SqlOptions,
): Promise<void> {
  await sql.query(
    'select leasehold.configure_queue($1::text, $2::int, $3::int, $4::int, $5::bigint, $6::bigint)',
    [
      input.queue,
      input.leaseSeconds ?? null,
      input.maxRunSeconds ?? null,
      input.maxAttempts ?? null,
      input.backoffBaseMs ?? null,
      input.backoffCapMs ?? null,
    ],
    options,
  );
}
