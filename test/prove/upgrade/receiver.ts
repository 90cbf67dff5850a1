import type { IncomingMessage, ServerResponse } from 'node:http';
import type pg from 'pg';
import { startLoopbackServer, type LoopbackServer } from '../../support/loopback-server.ts';
import type { Library } from './previous-release.ts';

/** The inbox that records which events were applied. */
const CONSUMER = 'upgraded';
const HELD_OF = 10;

/** What happens outside: effects by idempotency key, and a consumer of events written against one release. */
export class Receiver {
  readonly effects = new Map<string, number>();
  keyless = 0;
  /** Runs that began before an upgrade and ended after it. */
  held = 0;
  #calls = 0;
  #holding: Promise<void> | undefined;
  #letGo: () => void = () => undefined;
  readonly refused = new Set<string>();
  readonly #server: LoopbackServer;
  readonly #pool: pg.Pool;
  readonly #keys: readonly string[];
  readonly #library: Library;

  private constructor(options: ReceiverOptions, server: LoopbackServer) {
    this.#pool = options.pool;
    this.#keys = options.keys;
    this.#library = options.library;
    this.#server = server;
    server.serve((request, response) => {
      void this.#serve(request, response).catch(() => response.destroy());
    });
  }

  static async start(options: ReceiverOptions): Promise<Receiver> {
    await options.pool.query(`
      create table applied (place bigint generated always as identity, event_id uuid, aggregate text, version bigint);
      create table orders (id uuid primary key)`);
    return new Receiver(options, await startLoopbackServer());
  }

  get port(): number {
    return this.#server.port;
  }

  url(path: string): string {
    return this.#server.url(path);
  }

  /** From now on each tenth call waits for its answer, so that its job runs on while something else happens. */
  hold(): void {
    this.#holding = new Promise<void>((resolve) => {
      this.#letGo = resolve;
    });
  }

  letGo(): void {
    this.#holding = undefined;
    this.#letGo();
  }

  record(key: string): void {
    this.effects.set(key, (this.effects.get(key) ?? 0) + 1);
  }

  async close(): Promise<void> {
    await this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.url === '/events') {
      return await this.#apply(request, response, Buffer.concat(chunks).toString());
    }
    const key = request.headers['idempotency-key'];
    if (typeof key === 'string') this.record(key);
    else this.keyless += 1;
    this.#calls += 1;
    if (this.#holding !== undefined && this.#calls % HELD_OF === 0) {
      this.held += 1;
      await this.#holding;
    }
    response.end('done');
  }

  /** The record of the event and its effect commit together, then it is acknowledged. */
  async #apply(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const { receiveSignedEvent, processOnceIn, pgTransaction } = this.#library;
    const header = (name: string): string | undefined => {
      const value = request.headers[name];
      return typeof value === 'string' ? value : undefined;
    };
    const read = receiveSignedEvent({ header, body, keys: this.#keys, nowMs: Date.now() });
    if (read.outcome === 'refused') {
      this.refused.add(read.reason);
      return void response.writeHead(read.status).end(read.reason);
    }
    const { event } = read;
    const client = await this.#pool.connect();
    try {
      await client.query('begin');
      const end = await processOnceIn(
        pgTransaction(client),
        { consumer: CONSUMER, event, policy: 'strict' },
        () =>
          client.query(
            'insert into applied (event_id, aggregate, version) values ($1::uuid, $2::text, $3::bigint)',
            [event.id, event.aggregateId, event.version],
          ),
      );
      await client.query('commit');
      client.release();
      response.writeHead(end.outcome === 'gap' ? 503 : 200).end(end.outcome);
    } catch {
      client.release(true);
      response.writeHead(503).end(); // it comes again, and the inbox knows whether this commit came through
    }
  }
}

interface ReceiverOptions {
  readonly pool: pg.Pool;
  /** Keys that sign events. */
  readonly keys: readonly string[];
  readonly library: Library;
}
