import type { PublishedEvent } from '../../shared/published-event.ts';

/**
 * The subject of an event: `<prefix>.<aggregate type>.<aggregate id>.<event type>`. The type and the id of the aggregate are
 * one token each; the dots of the event type stay, so `events.order.*.order.placed` and `events.order.42.>` both work as
 * filters. What means something in a subject, or ends it, is percent-encoded, so that two aggregates never share one.
 *
 * With the limits of the outbox a subject stays far below the 4 KB that a server takes.
 *
 * @example natsSubject('events', event) // 'events.order.42.order.placed'
 */
export function natsSubject(
  prefix: string,
  event: Pick<PublishedEvent, 'aggregateType' | 'aggregateId' | 'type'>,
): string {
  const type = event.type.split('.').map((part) => (part === '' ? '%' : token(part)));
  return [prefix, token(event.aggregateType), token(event.aggregateId), ...type].join('.');
}

/** Printable ASCII but `%`, `*`, `.` and `>`, and everything beyond ASCII, stays as it is. */
const MEANS_SOMETHING = /[^!-$&-)+,\-/-=?-~\u{80}-\u{10ffff}]/gu;

function token(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(
      MEANS_SOMETHING,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    );
}
