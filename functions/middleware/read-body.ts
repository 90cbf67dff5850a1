import { LeaseholdError } from '../../shared/errors.ts';
import { MAX_BODY_BYTES } from '../../shared/limits.ts';
import type { RouteContext } from '../routes/route.ts';

/**
 * The bytes of the body, read once and kept for the request. The limit counts what arrives, not what
 * `Content-Length` claims, so a chunked body is bounded as well.
 *
 * @throws {LeaseholdError} `body_too_large`; `invalid_json` when the body breaks off
 */
export async function readBody(context: RouteContext): Promise<Uint8Array> {
  const kept = context.get('bodyBytes');
  if (kept !== undefined) return kept;
  const request = context.req.raw;
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const body: ReadableStream<Uint8Array> | null = request.body;
  const bytes = body === null ? new Uint8Array() : await readAtMost(body);
  context.set('bodyBytes', bytes);
  return bytes;
}

async function readAtMost(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(brokenOff);
    if (done) break;
    size += value.byteLength;
    if (size > MAX_BODY_BYTES) {
      await reader.cancel().catch(() => undefined);
      throw tooLarge();
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

function tooLarge(): LeaseholdError {
  return new LeaseholdError('body_too_large', `The body is larger than ${MAX_BODY_BYTES} bytes.`);
}

/** The sender hung up or garbled the transfer: no fault of ours, so no 500 and no alarm. */
function brokenOff(cause: unknown): never {
  const message = 'The body broke off before its end.';
  throw new LeaseholdError('invalid_json', message, { cause, problems: [{ path: '$', message }] });
}
