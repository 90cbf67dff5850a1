const ENCODER = new TextEncoder();

export interface ServerSentEvent {
  readonly event: string;
  /** A value that has a JSON text: it holds no line breaks. */
  readonly data: unknown;
  /** What `Last-Event-ID` says when the stream is taken up again. */
  readonly id?: string;
  /** Milliseconds after which to come back. */
  readonly retryMs?: number;
}

/** One message of a stream of server-sent events. */
export function sseMessage({ event, data, id, retryMs }: ServerSentEvent): Uint8Array {
  const lines = [`event: ${event}`];
  if (id !== undefined) lines.push(`id: ${id}`);
  if (retryMs !== undefined) lines.push(`retry: ${retryMs}`);
  return ENCODER.encode(`${lines.join('\n')}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** A heartbeat: a comment, and where the reader is by now; without data nothing is dispatched. */
export function sseHeartbeat(id: string | undefined): Uint8Array {
  return ENCODER.encode(id === undefined ? ':\n\n' : `:\nid: ${id}\n\n`);
}
