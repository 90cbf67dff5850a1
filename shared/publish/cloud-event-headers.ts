import type { CloudEventAttributes } from './cloud-event.ts';

/**
 * The attributes of an event as headers, by the binary mode of the CloudEvents bindings to HTTP and NATS: `ce-` before each
 * name, but `content-type` for the type of the data.
 */
export function cloudEventHeaders({
  datacontenttype: contentType,
  ...others
}: CloudEventAttributes): Record<string, string> {
  return {
    ...Object.fromEntries(
      Object.entries(others).map(([name, value]) => [`ce-${name}`, headerValue(String(value))]),
    ),
    ...(contentType === undefined ? {} : { 'content-type': String(contentType) }),
  };
}

/** Everything but printable ASCII, and space, quote and percent, goes as percent-encoded UTF-8. */
function headerValue(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\x21\x23\x24\x26-\x7e]+/gu, (run) =>
      Array.from(
        new TextEncoder().encode(run),
        (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
      ).join(''),
    );
}
