import { AckPolicy, jetstreamManager } from '@nats-io/jetstream';
import { nanos } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';

export const PREFIX = 'events';
export const STREAM = 'EVENTS';
/** The broker's own window against repeats: one that comes later is the inbox's to know. */
const DUPLICATE_WINDOW_MS = 2 * 60_000;
/** An event that is not acknowledged comes again after this time. */
const ACKNOWLEDGE_WITHIN_MS = 10_000;

/** Makes the stream that takes every event, and the inventory's place in it. Both survive the broker. */
export async function createStream(address: string): Promise<void> {
  const connection = await connect({ servers: address });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({
    name: STREAM,
    subjects: [`${PREFIX}.>`],
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
  });
  await manager.consumers.add(STREAM, {
    durable_name: 'inventory',
    filter_subject: `${PREFIX}.order.>`,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ACKNOWLEDGE_WITHIN_MS),
  });
  await connection.close();
}
