import type { IncomingMessage, ServerResponse } from 'node:http';
import type pg from 'pg';
import { processOnceIn } from '../../../shared/inbox/process-once.ts';
import { receiveSignedEvent } from '../../../shared/inbox/receive-signed-event.ts';
import { pgTransaction } from '../../../shared/transaction/pg-transaction.ts';
import type { SeededRandom } from '../../simulation/world/random.ts';
import { startLoopbackServer, type LoopbackServer } from '../../support/loopback-server.ts';
import { CONSUMER } from './plan.ts';

/** Shares of the effects whose answer is lost, and of those that are refused for a moment. */
const LOST_SHARE = 0.01;
const BUSY_SHARE = 0.01;

/** What was done outside the database: calls by idempotency key, and events that its consumer applied. */
export class EffectReceiver {
  /** Calls that had their effect, by idempotency key: more than one is a repeat that the key tells. */
  readonly calls = new Map<string, number>();
  keyless = 0;
  lostAnswers = 0;
  /** Ids of events that the consumer has acknowledged: applied, or known to be. */
  readonly acknowledged = new Set<string>();
  eventsRepeated = 0;
  eventsRefused = 0;
  readonly #server: LoopbackServer;
  readonly #pool: pg.Pool;
  readonly #random: SeededRandom;
  readonly #keys: readonly string[];

  private constructor(options: ReceiverOptions, server: LoopbackServer) {
    this.#pool = options.pool;
    this.#random = options.random;
    this.#keys = options.keys;
    this.#server = server;
    server.serve((request, response) => {
      void this.#serve(request, response).catch(() => response.destroy());
    });
  }

  static async start(options: ReceiverOptions): Promise<EffectReceiver> {
    return new EffectReceiver(options, await startLoopbackServer());
  }

  get port(): number {
    return this.#server.port;
  }

  url(path: string): string {
    return this.#server.url(path);
  }

  /** What a handler does outside the database. */
  record(key: string): void {
    this.calls.set(key, (this.calls.get(key) ?? 0) + 1);
  }

  async close(): Promise<void> {
    await this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request);
    if (request.url === '/events') return await this.#apply(request, response, body);
    if (this.#random.chance(BUSY_SHARE)) return void response.writeHead(503).end();
    const key = request.headers['idempotency-key'];
    if (typeof key === 'string') this.record(key);
    else this.keyless += 1;
    if (this.#random.chance(LOST_SHARE)) {
      this.lostAnswers += 1;
      return void response.destroy();
    }
    response.end('done');
  }

  /** The record of the event and its effect commit together, then it is acknowledged. */
  async #apply(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const header = (name: string): string | undefined => {
      const value = request.headers[name];
      return typeof value === 'string' ? value : undefined;
    };
    const read = receiveSignedEvent({ header, body, keys: this.#keys, nowMs: Date.now() });
    if (read.outcome === 'refused') {
      this.eventsRefused += 1;
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
            'insert into applied (consumer, event_id, aggregate, version) values ($1, $2, $3, $4)',
            [CONSUMER, event.id, event.aggregateId, event.version],
          ),
      );
      await client.query('commit');
      client.release();
      if (end.outcome === 'gap') return void response.writeHead(503).end('gap');
      this.acknowledged.add(event.id);
      if (end.outcome !== 'applied') this.eventsRepeated += 1;
      response.end('done');
    } catch {
      client.release(true);
      response.writeHead(503).end(); // it comes again, and the inbox knows whether this commit came through
    }
  }
}

interface ReceiverOptions {
  /** Straight to the database of the consumer. */
  readonly pool: pg.Pool;
  readonly random: SeededRandom;
  /** Keys that sign events. */
  readonly keys: readonly string[];
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
