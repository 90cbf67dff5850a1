import type { HttpEvent } from './event-shape.ts';

/** Stage of function URLs, and of HTTP APIs without stages; it is not part of the path. */
const DEFAULT_STAGE = '$default';
const WITHOUT_BODY = new Set(['GET', 'HEAD']);

/**
 * The event as a request of the API. API Gateway puts the stage in front of the path and hands the path on decoded, while
 * function URLs leave it as it was sent; and a GET with a body, which HTTP gives no meaning, cannot be made a `Request`.
 */
export function plainHttpEvent(event: HttpEvent): HttpEvent {
  const { stage } = event.requestContext;
  const prefix = stage === undefined || stage === DEFAULT_STAGE ? '' : `/${stage}`;
  const path =
    prefix !== '' && (event.rawPath === prefix || event.rawPath.startsWith(`${prefix}/`))
      ? event.rawPath.slice(prefix.length)
      : event.rawPath;
  const hasBody = !WITHOUT_BODY.has(event.requestContext.http.method);
  return {
    ...event,
    rawPath: encodedPath(path === '' ? '/' : path),
    body: hasBody ? (event.body ?? null) : null,
  };
}

/** Whether a `Request` can be made of it: the platform lets through methods and hosts that `Request` does not take. */
export function isRequest({ rawPath, requestContext }: HttpEvent): boolean {
  const { domainName, http } = requestContext;
  try {
    new Request(`https://${domainName}${rawPath}`, { method: http.method });
    return true;
  } catch {
    return false;
  }
}

/** Encodes only what no encoded path can hold, so that an encoded one stays as it is. */
function encodedPath(path: string): string {
  return path
    .toWellFormed()
    .replace(/%(?![\da-f]{2})|[^\x21-\x7e]|[?#"<>\\^`{|}]/gi, (character) =>
      encodeURIComponent(character),
    );
}
