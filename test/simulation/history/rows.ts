import type pg from 'pg';

const ROWS_A_PAGE = 2000;
let cursors = 0;

/**
 * The rows of a query, a page at a time, so that memory does not grow with them. The client is in a transaction, at
 * repeatable read where several streams are to show one instant.
 */
export async function* streamRows<Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  query: string,
): AsyncGenerator<Row, void> {
  cursors += 1;
  const name = `history_${cursors}`;
  await client.query(`declare ${name} no scroll cursor for ${query}`);
  for (;;) {
    const { rows } = await client.query<Row>(`fetch ${ROWS_A_PAGE} from ${name}`);
    yield* rows;
    if (rows.length < ROWS_A_PAGE) break;
  }
  await client.query(`close ${name}`);
}

/** A stream in the order of job ids, from which the rows of one job after another are taken. */
export class RowsByJob<Row extends { readonly job_id: string }> {
  readonly #rows: AsyncGenerator<Row, void>;
  #next: Row | undefined;

  private constructor(rows: AsyncGenerator<Row, void>) {
    this.#rows = rows;
  }

  static async open<Row extends pg.QueryResultRow & { readonly job_id: string }>(
    client: pg.ClientBase,
    query: string,
  ): Promise<RowsByJob<Row>> {
    const stream = new RowsByJob(streamRows<Row>(client, query));
    await stream.#advance();
    return stream;
  }

  /** The job of the next row; undefined at the end. */
  get job(): string | undefined {
    return this.#next?.job_id;
  }

  /** All rows of a job that no earlier row is left before. */
  async take(job: string): Promise<Row[]> {
    const rows: Row[] = [];
    while (this.#next?.job_id === job) {
      rows.push(this.#next);
      await this.#advance();
    }
    return rows;
  }

  async #advance(): Promise<void> {
    const { value, done } = await this.#rows.next();
    this.#next = done === true ? undefined : value;
  }
}
