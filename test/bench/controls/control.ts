/**
 * A control: our own small queue in SQL that differs from the reference in one decision. What it loses against the
 * reference is the price of that decision and of nothing else.
 */
export interface Control {
  readonly name: string;
  /** What it does differently, for the report. */
  readonly summary: string;
  /** `product`: on top of the migrated schema. `own`: a schema of its own in a database without ours. */
  readonly on: 'product' | 'own';
  /** Makes its tables and routines; several statements. */
  readonly schema: string;
  readonly statements: ControlStatements;
  /** How jobs come in; the product's controls take them as the product does. */
  readonly input?: ControlInput;
}

export interface ControlInput {
  /** $1 jsonb array of payloads; adds due jobs to the one queue `bench`. */
  readonly enqueue: string;
  /** $1 count, $2 jsonb payload; the same for a backlog that is made inside the database. */
  readonly fill: string;
}

export interface ControlStatements {
  /** $1 owner, $2 claim id; gives `job_id` and `fencing_token`, or no row. */
  readonly claim: string;
  /** $1 job id, $2 owner, $3 fencing token; gives `outcome`, `succeeded` or `lease_lost`. */
  readonly complete: string;
  /** $1 count; makes the first due jobs running for an hour, as if so many had been claimed. */
  readonly hold: string;
  /** Gives `count`: the jobs that nobody has claimed. */
  readonly pending: string;
}

export const CONTROL_QUEUE = 'bench';
