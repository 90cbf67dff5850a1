/**
 * One statement for a connection of the caller's. Each value is text or null and is cast in the text itself
 * (`$1::text::jsonb`): drivers encode by the type that Postgres reports for a parameter, and some would turn JSON text
 * into a JSON string, or a list into a Postgres array. Text has one form everywhere.
 */
export interface Statement {
  /** SQL with `$1`, `$2`, …, each used once and in this order. */
  readonly text: string;
  readonly values: readonly (string | null)[];
}

/** The caller's open transaction, whatever library holds it; the adapters beside this file make one. */
export interface Transaction {
  /** Runs the statement on the connection of the transaction. Gives what the driver gives: rows, or an object with `rows`. */
  run(statement: Statement): PromiseLike<unknown>;
}
