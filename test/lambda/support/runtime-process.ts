/**
 * One container of Lambda's Node runtime, as a process: loads the bundle, gets one event after another over IPC, and gives
 * the handler what the real runtime gives. Its parent stops it (SIGSTOP) between invocations, as Lambda freezes it.
 *
 *   node runtime-process.ts <folder> <module>.<export>
 */
import process from 'node:process';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import type { ContainerAnswer, ContainerEvent } from './container-messages.ts';

const PRELUDE_END = new Uint8Array(8);
const STREAMS = Symbol('handler streams');

/** What a streaming handler writes to: the answer, with a prelude of JSON before the body. */
class ResponseStream extends Writable {
  readonly chunks: Buffer[] = [];
  contentType: string | undefined;
  beforeFirstWrite: (() => void) | undefined;

  setContentType(contentType: string): void {
    this.contentType = contentType;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.beforeFirstWrite?.();
    this.beforeFirstWrite = undefined;
    this.chunks.push(chunk);
    done();
  }
}

Object.assign(globalThis, {
  awslambda: {
    streamifyResponse: (handler: object) => Object.assign(handler, { [STREAMS]: true }),
    HttpResponseStream: {
      from: (stream: ResponseStream, prelude: object) => {
        stream.setContentType('application/vnd.awslambda.http-integration-response');
        stream.beforeFirstWrite = () => {
          stream.chunks.push(Buffer.from(JSON.stringify(prelude)), Buffer.from(PRELUDE_END));
        };
        return stream;
      },
    },
  },
});

const [folder = '', handlerName = ''] = process.argv.slice(2);
const [moduleName = '', exportName = ''] = handlerName.split('.');
const module = (await import(pathToFileURL(`${folder}/${moduleName}.cjs`).href)) as Readonly<
  Record<string, unknown>
>;
const handler = module[exportName];
if (typeof handler !== 'function') throw new TypeError(`${handlerName} is not a function.`);

process.on('message', (message: ContainerEvent) => void invoke(message));
send({ kind: 'ready' });

async function invoke({ event, deadlineAt, trace }: ContainerEvent): Promise<void> {
  process.env['_X_AMZN_TRACE_ID'] = trace;
  const context = { getRemainingTimeInMillis: () => deadlineAt - Date.now() };
  const run = handler as (...args: readonly unknown[]) => Promise<unknown>;
  try {
    if (STREAMS in run) {
      const stream = new ResponseStream();
      await run(event, stream, context);
      if (!stream.writableEnded) throw new Error('Response stream is not finished.');
      send({ kind: 'streamed', base64: Buffer.concat(stream.chunks).toString('base64') });
    } else {
      send({ kind: 'returned', result: (await run(event, context)) ?? null });
    }
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: 'Error', message: '' };
    send({ kind: 'threw', name, message });
  }
}

function send(answer: ContainerAnswer): void {
  process.send?.(answer);
}
