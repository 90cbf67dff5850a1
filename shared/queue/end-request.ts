import type { Sql, SqlOptions } from '../ports.ts';

export interface EndRequestInput {
  readonly actor: string;
  readonly key: string;
  /** What to replay; absent: the request failed on our side and is to be tried again. */
  readonly answer?: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
}

/**
 * Keeps the answer of a request with an Idempotency-Key, or frees the key. Safe to repeat: the first answer stays.
 *
 * @example await endRequest(sql, { actor, key, answer: { status: 201, headers: {}, body } });
 */
export async function endRequest(
  sql: Sql,
  input: EndRequestInput,
  options?: SqlOptions,
): Promise<void> {
  const { answer } = input;
  await sql.query(
    'select leasehold.end_request($1::text, $2::text, $3::int, $4::jsonb, $5::text)',
    [
      input.actor,
      input.key,
      answer?.status ?? null,
      answer === undefined ? null : JSON.stringify(answer.headers),
      answer?.body ?? null,
    ],
    options,
  );
}
