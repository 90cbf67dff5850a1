import type { CloudEventAttributes } from './cloud-event.ts';

/**
 * An event in the JSON format of CloudEvents (structured mode). One without a body has no `data` member; one whose body is
 * JSON null has `"data": null`.
 *
 * @param payload as JSON text: it goes in as it is, so that no digit of it is lost on the way through a double
 */
export function cloudEventJson(
  attributes: CloudEventAttributes,
  payload: string | undefined,
): string {
  const envelope = JSON.stringify(attributes);
  return payload === undefined ? envelope : `${envelope.slice(0, -1)},"data":${payload}}`;
}
