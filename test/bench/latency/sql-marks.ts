import { channel } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { wallClock } from './start-probe.ts';

export interface SqlMark {
  readonly cameAt: number;
  /** Undefined while it is not answered. */
  answeredAt?: number;
}

export interface SqlMarks {
  /** Since the last reset, in the order of their coming. */
  readonly marks: readonly SqlMark[];
  reset(): void;
  close(): void;
}

interface ServerMessage {
  readonly request: IncomingMessage;
}

/** When statements came to the server on `port` of this process, and when they were answered. */
export function watchSql(port: number): SqlMarks {
  let marks: SqlMark[] = [];
  let open = new Map<IncomingMessage, SqlMark>();
  const onCame = (message: unknown): void => {
    const { request } = message as ServerMessage;
    if (request.socket.localPort !== port) return;
    const mark = { cameAt: wallClock() };
    marks.push(mark);
    open.set(request, mark);
  };
  const onAnswered = (message: unknown): void => {
    const { request } = message as ServerMessage;
    const mark = open.get(request);
    if (mark !== undefined) mark.answeredAt = wallClock();
    open.delete(request);
  };
  const came = channel('http.server.request.start');
  const answered = channel('http.server.response.finish');
  came.subscribe(onCame);
  answered.subscribe(onAnswered);
  return {
    get marks() {
      return marks;
    },
    reset: () => {
      marks = [];
      open = new Map();
    },
    close: () => {
      came.unsubscribe(onCame);
      answered.unsubscribe(onAnswered);
    },
  };
}
