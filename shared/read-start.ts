/** The beginning of a body. */
export interface BodyStart {
  readonly text: string;
  /** Whether that is all of it. */
  readonly whole: boolean;
}

/**
 * Reads no more of a body than will be kept, whatever the other side sends, and lets go of the rest. Bytes that are not
 * UTF-8 become replacement characters.
 *
 * @param maxBytes after decompression
 */
export async function readStart(response: Response, maxBytes: number): Promise<BodyStart> {
  const body: ReadableStream<Uint8Array> | null = response.body;
  if (body === null) return { text: '', whole: true };
  const reader = body.getReader();
  const bytes = new Uint8Array(maxBytes);
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { text: decode(bytes.subarray(0, size)), whole: true };
    const kept = value.subarray(0, maxBytes - size);
    bytes.set(kept, size);
    size += kept.length;
    if (kept.length < value.length) break;
  }
  await reader.cancel().catch(() => undefined);
  // A character that was cut in two at the end is left out.
  return { text: decode(bytes.subarray(0, size), true), whole: false };
}

function decode(bytes: Uint8Array, more = false): string {
  return new TextDecoder().decode(bytes, { stream: more });
}
