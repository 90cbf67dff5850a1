import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { startNatsServer, type NatsServer } from '../../../infra/local/nats-server.ts';

/** A real broker of a test file's own. */
export interface Broker {
  readonly server: NatsServer;
  /** Opens a connection as a publisher of the outbox does: one that is lost stays lost. */
  connect(): Promise<NatsConnection>;
  /** A connection of the test's own, for streams and for what is in them. */
  manage(): Promise<JetStreamManager>;
  close(): Promise<void>;
}

/** @param token that the server is configured to ask for */
export async function startBroker(
  configuration: readonly string[] = [],
  token?: string,
): Promise<Broker> {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-nats-'));
  const server = await startNatsServer({ folder, configuration });
  const open = new Set<NatsConnection>();
  const connectOnce = async (): Promise<NatsConnection> => {
    const connection = await connect({
      servers: server.address,
      reconnect: false,
      timeout: 2000,
      ...(token === undefined ? {} : { token }),
    });
    open.add(connection);
    void connection.closed().then(() => open.delete(connection));
    return connection;
  };
  return {
    server,
    connect: connectOnce,
    manage: async () => await jetstreamManager(await connectOnce()),
    close: async () => {
      await Promise.all([...open].map((connection) => connection.close()));
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface StoredEvent {
  readonly sequence: number;
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Everything in a stream, in its order. */
export async function stored(manager: JetStreamManager, stream: string): Promise<StoredEvent[]> {
  const { state } = await manager.streams.info(stream);
  const found: StoredEvent[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
    const message = await manager.streams.getMessage(stream, { seq });
    if (message === null) continue;
    const headers = message.header;
    found.push({
      sequence: seq,
      subject: message.subject,
      headers: Object.fromEntries(headers.keys().map((name) => [name, headers.get(name)])),
      text: message.string(),
    });
  }
  return found;
}
