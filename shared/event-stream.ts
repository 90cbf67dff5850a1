/** One message of a stream of server-sent events. */
export interface StreamMessage {
  /** `message` when the sender gave it no name. */
  readonly event: string;
  readonly data: string;
}

/** Longer lines are no messages of this API; a sender must not fill the memory of its readers. */
const MAX_LINE_CHARS = 64 * 1024 * 1024;

/**
 * Reads server-sent events from pieces of text, as the HTML standard has them: comments are skipped, a message without data
 * is none, an id counts from the end of its message on.
 */
export class EventStreamParser {
  /** Of the last message, dispatched or not. */
  lastEventId: string | undefined;
  /** After which time the sender wants its readers back. */
  retryMs: number | undefined;
  #rest = '';
  #event = '';
  #data: string[] = [];
  #id: string | undefined;

  /** @returns the messages that are complete with this piece */
  push(piece: string): StreamMessage[] {
    // A carriage return at the end may be half of a line break.
    const text = this.#rest + piece;
    const end = text.endsWith('\r') ? text.length - 1 : text.length;
    const lines = text.slice(0, end).split(/\r\n|\n|\r/);
    this.#rest = (lines.pop() ?? '') + text.slice(end);
    if (this.#rest.length > MAX_LINE_CHARS)
      throw new RangeError('A line of the stream is too long.');
    return lines.flatMap((line) => (line === '' ? this.#dispatch() : this.#take(line)));
  }

  #take(line: string): [] {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') this.#data.push(value);
    if (name === 'event') this.#event = value;
    if (name === 'id' && !value.includes('\0')) this.#id = value;
    if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
    return [];
  }

  #dispatch(): StreamMessage[] {
    const data = this.#data;
    const event = this.#event === '' ? 'message' : this.#event;
    this.lastEventId = this.#id ?? this.lastEventId;
    this.#data = [];
    this.#event = '';
    return data.length === 0 ? [] : [{ event, data: data.join('\n') }];
  }
}
