import { LeaseholdError } from '../../shared/errors.ts';
import { MAX_BODY_BYTES } from '../../shared/limits.ts';
import { readAtMost } from '../bounded-body.ts';
import type { RouteContext } from '../routes/route.ts';

/**
 * The bytes of the body, read once and kept for the request. The limit counts what arrives, not what
 * `Content-Length` claims, so a chunked body is bounded as well.
 *
 * @throws {LeaseholdError} `body_too_large`; `invalid_json` when it breaks off
 */
export async function readBody(context: RouteContext): Promise<Uint8Array> {
  const kept = context.get('bodyBytes');
  if (kept !== undefined) return kept;
  const request = context.req.raw;
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const body: ReadableStream<Uint8Array> | null = request.body;
  const bytes = await readAtMost(body, MAX_BODY_BYTES).catch(brokenOff);
  if (bytes === undefined) throw tooLarge();
  context.set('bodyBytes', bytes);
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
