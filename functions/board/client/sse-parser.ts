/** Server-sent events out of the text of a stream, piece by piece (WHATWG HTML, 9.2.6). */
export interface SseMessage {
  readonly event: string;
  readonly data: string;
}

export interface SseParser {
  /** The messages that this piece completes. */
  readonly feed: (piece: string) => readonly SseMessage[];
  /** The last `id:` of a completed message: where to resume. */
  readonly lastEventId: () => string | undefined;
  /** What the server asked to wait before the next connection. */
  readonly retryMs: () => number | undefined;
}

export function sseParser(): SseParser {
  let rest = '';
  let data: string[] = [];
  let event = '';
  let id: string | undefined;
  let settledId: string | undefined;
  let retry: number | undefined;

  const field = (line: string): void => {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') data.push(value);
    else if (name === 'event') event = value;
    else if (name === 'id' && !value.includes('\0')) id = value;
    else if (name === 'retry' && /^\d+$/.test(value)) retry = Number(value);
  };
  const dispatch = (): SseMessage | undefined => {
    settledId = id;
    const message = { event: event === '' ? 'message' : event, data: data.join('\n') };
    const isEmpty = data.length === 0;
    data = [];
    event = '';
    return isEmpty ? undefined : message;
  };
  return {
    feed(piece) {
      const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/); // a trailing \r may be half a line end
      rest = lines.pop() ?? '';
      return lines.flatMap((line) => {
        if (line !== '') field(line);
        return line === '' ? (dispatch() ?? []) : [];
      });
    },
    lastEventId: () => settledId,
    retryMs: () => retry,
  };
}
