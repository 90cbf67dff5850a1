import type pg from 'pg';

/** How a job ended. */
interface Settled {
  readonly state: string;
  readonly token: number;
}

/** What was promised to producers, and what became of it: kept outside the database that is being killed. */
export class JobLedger {
  /** Accepted jobs whose end has not been seen. */
  readonly #open = new Set<string>();
  readonly #settled = new Map<string, Settled>();
  readonly #faults: string[] = [];
  #accepted = 0;
  appended = 0;

  get accepted(): number {
    return this.#accepted;
  }

  /** Accepted and not known to have ended, when last looked. */
  get open(): number {
    return this.#open.size;
  }

  get settled(): ReadonlyMap<string, Settled> {
    return this.#settled;
  }

  get faults(): readonly string[] {
    return this.#faults;
  }

  fault(text: string): void {
    if (this.#faults.length < 100) this.#faults.push(text);
  }

  accept(ids: readonly string[]): void {
    for (const id of ids) if (!this.#settled.has(id)) this.#open.add(id);
    this.#accepted += ids.length;
  }

  /** Those: retention cannot have taken one of them. */
  openIds(): Iterable<string> {
    return this.#open;
  }

  /**
   * Reads every end that the database still knows. A job that ended before under another token has ended twice.
   */
  async look(pool: pg.Pool): Promise<void> {
    const { rows } = await pool.query<{ job_id: string; state: string; token: number }>(
      `select job_id, state, fencing_token::float8 as token from leasehold.finished_jobs
       union all
       select job_id, 'dead', fencing_token::float8 from leasehold.dead_letters`,
    );
    for (const { job_id: id, state, token } of rows) {
      const before = this.#settled.get(id);
      if (before === undefined) {
        this.#settled.set(id, { state, token });
        this.#open.delete(id);
      } else if (before.state !== state || before.token !== token) {
        this.fault(
          `${id} ended as ${before.state} under ${before.token}, then as ${state} under ${token}`,
        );
      }
    }
  }

  /** After the last look: what was accepted and neither ended nor is there. */
  async missing(pool: pg.Pool): Promise<readonly string[]> {
    const ids = [...this.#open];
    const { rows } = await pool.query<{ id: string }>(
      `select x.id::text from unnest($1::uuid[]) x (id)
       where not exists (select 1 from leasehold.job_state s where s.job_id = x.id)`,
      [ids],
    );
    return rows.map(({ id }) => id);
  }
}
