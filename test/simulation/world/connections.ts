import pg from 'pg';

export interface Connection {
  readonly client: pg.Client;
  readonly pid: number;
}

/**
 * Open connections to a ground, kept from one actor and one seed to the next: a fresh backend has to read every routine
 * again, which takes longer than all that an actor asks of it.
 */
export class Connections {
  readonly #url: string;
  readonly #idle: Connection[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  async take(): Promise<Connection> {
    const kept = this.#idle.pop();
    if (kept !== undefined) return kept;
    const client = new pg.Client({ connectionString: this.#url });
    client.on('error', () => this.#forget(client));
    client.once('end', () => this.#forget(client));
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return { client, pid: rows[0]?.pid ?? 0 };
  }

  /** One that is in no transaction. */
  give(connection: Connection): void {
    this.#idle.push(connection);
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#idle.splice(0).map(({ client }) => client.end().catch(() => undefined)),
    );
  }

  #forget(client: pg.Client): void {
    const at = this.#idle.findIndex((one) => one.client === client);
    if (at >= 0) this.#idle.splice(at, 1);
  }
}
