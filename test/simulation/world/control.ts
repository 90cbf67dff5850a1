import pg from 'pg';

/** The simulation's own connection, beside those of the actors; it comes back after the server has gone. */
export class Control {
  readonly #url: string;
  #client: pg.Client | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  async query<Row extends pg.QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    this.#client ??= await connect(this.#url);
    return (await this.#client.query<Row>(text, [...values])).rows;
  }

  /** Kills its own backend outright: the server takes that for a crash, cuts everybody and recovers from its log. */
  async crashServer(): Promise<void> {
    const [row] = await this.query<{ pid: number }>('select pg_backend_pid() as pid');
    const client = this.#client;
    if (row === undefined || client === undefined) return;
    const gone = new Promise((resolve) => void client.once('end', resolve));
    process.kill(row.pid, 'SIGKILL');
    await gone;
    this.#client = undefined;
    await this.query('select 1');
  }

  async close(): Promise<void> {
    await this.#client?.end();
  }
}

const NOT_YET = new Set(['57P03', '57P02', 'ECONNREFUSED', 'ECONNRESET']);

/** Waits for a server that recovers. */
async function connect(url: string): Promise<pg.Client> {
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
      const cut = error instanceof Error && /terminated|connection/i.test(error.message);
      if (!cut && !NOT_YET.has(String(code))) throw error;
    }
  }
}
