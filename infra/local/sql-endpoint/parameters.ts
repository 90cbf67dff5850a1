/**
 * A parameter as Postgres text, by the proxy's rule: a string passes through, a number, boolean or object becomes its
 * JSON text, an array becomes a Postgres array literal, null stays null. No type goes with it: Postgres infers it.
 *
 * @example parameterText([1, null, 'a"b']) // {1,NULL,"a\"b"}
 */
export function parameterText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? arrayLiteral(value) : JSON.stringify(value);
}

function arrayLiteral(values: readonly unknown[]): string {
  return `{${values.map(element).join(',')}}`;
}

function element(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (Array.isArray(value)) return arrayLiteral(value);
  // A JSON string literal is a quoted array element, except that Postgres knows no escape but \" and \\.
  if (typeof value === 'string') return quoted(value);
  return typeof value === 'object' ? quoted(JSON.stringify(value)) : JSON.stringify(value);
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
