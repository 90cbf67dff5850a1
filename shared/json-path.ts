/** A place inside a JSON document: object keys and array positions from the outside in. */
export type JsonPath = readonly (string | number)[];

const PLAIN_KEY = /^[A-Za-z_$][A-Za-z0-9_$-]*$/;
const MAX_KEY_CHARS = 100;

/**
 * The path as people read it. Keys that are not plain words are quoted and escaped, long ones are cut, so that
 * the text is safe to show whatever the document held.
 *
 * @param path empty for the whole document
 * @example formatJsonPath(['jobs', 2, 'payload', 'a b']) // 'jobs[2].payload["a b"]'
 * @example formatJsonPath([]) // '$'
 */
export function formatJsonPath(path: JsonPath): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `${text === '' ? '$' : ''}[${part}]`;
    else if (PLAIN_KEY.test(part) && part.length <= MAX_KEY_CHARS)
      text += text === '' ? part : `.${part}`;
    else text += `${text === '' ? '$' : ''}[${quoteKey(part)}]`;
  }
  return text === '' ? '$' : text;
}

/** `JSON.stringify` escapes U+0000 and lone surrogates, so the quoted key is always storable text. */
function quoteKey(key: string): string {
  return JSON.stringify(key.length > MAX_KEY_CHARS ? `${key.slice(0, MAX_KEY_CHARS)}…` : key);
}
