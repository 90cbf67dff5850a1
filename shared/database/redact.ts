const REDACTED = '[redacted]';
const MAX_TEXT_CHARS = 500;

/**
 * Makes a function that takes a connection string and its password out of a text, whole or in part, encoded or not,
 * and cuts the text to 500 characters. For texts that others wrote: driver, `fetch`, an intermediary's error page.
 */
export function redactor(connectionString: string): (text: string) => string {
  const raw = /^[^:]+:\/\/[^:@/]*:([^/]*)@/.exec(connectionString)?.[1] ?? '';
  const normalised = URL.parse(connectionString)?.password ?? '';
  const secrets = [connectionString, raw, normalised, decodeSafely(normalised)]
    .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
    .filter((secret) => secret !== '')
    .toSorted((left, right) => right.length - left.length);
  return (text) => {
    const clean = secrets.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text);
    // A string of the same kind that is not ours, e.g. in a proxy's error page.
    return clean.replaceAll(/postgres(?:ql)?:\/\/\S*/gi, REDACTED).slice(0, MAX_TEXT_CHARS);
  };
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
