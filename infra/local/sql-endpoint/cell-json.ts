import { types } from 'pg';

const { BOOL, INT2, INT4, FLOAT4, FLOAT8, JSON: JSON_OID, JSONB } = types.builtins;

/** Element type of the array types whose elements are not plain text in JSON. */
const ARRAY_ELEMENTS: ReadonlyMap<number, number> = new Map<number, number>([
  [1000, BOOL],
  [1005, INT2],
  [1007, INT4],
  [1021, FLOAT4],
  [1022, FLOAT8],
  [199, JSON_OID],
  [3807, JSONB],
  // text, varchar, bpchar, name, int8, numeric, uuid, timestamptz, timestamp, date: elements stay text.
  ...[1009, 1015, 1014, 1003, 1016, 1231, 2951, 1185, 1115, 1182].map((oid): [number, number] => [
    oid,
    types.builtins.TEXT,
  ]),
]);

/**
 * A cell as JSON text for a client that did not ask for raw text: booleans, small integers, floats, json and arrays in
 * their JSON form, all else (int8 and numeric too) as a string. The driver never uses this; other clients may.
 * Unlike the proxy, which asks the catalogue, it knows the array types listed above and no others.
 */
export function cellJson(text: string | null, typeOid: number): string {
  if (text === null) return 'null';
  const elementOid = ARRAY_ELEMENTS.get(typeOid);
  if (elementOid !== undefined) return arrayJson(text, elementOid);
  switch (typeOid) {
    case BOOL:
      return text === 't' ? 'true' : 'false';
    case INT2:
    case INT4:
    case JSON_OID:
    case JSONB:
      return text;
    case FLOAT4:
    case FLOAT8:
      // NaN and the infinities have no JSON number.
      return Number.isFinite(Number(text)) ? String(Number(text)) : JSON.stringify(text);
    default:
      return JSON.stringify(text);
  }
}

/** One pass over a Postgres array literal such as `[0:1]={{1,NULL},{"a,b",2}}`. */
function arrayJson(literal: string, elementOid: number): string {
  let at = literal.startsWith('[') ? literal.indexOf('=') + 1 : 0;
  const list = (): string => {
    const items: string[] = [];
    at += 1; // {
    while (literal[at] !== '}') {
      items.push(item());
      if (literal[at] === ',') at += 1;
    }
    at += 1; // }
    return `[${items.join(',')}]`;
  };
  const item = (): string => {
    if (literal[at] === '{') return list();
    if (literal[at] === '"') return cellJson(quotedText(), elementOid);
    const end = literal.slice(at).search(/[,}]/) + at;
    const text = literal.slice(at, end);
    at = end;
    return text === 'NULL' ? 'null' : cellJson(text, elementOid);
  };
  const quotedText = (): string => {
    let text = '';
    for (at += 1; literal[at] !== '"'; at += 1) {
      if (literal[at] === '\\') at += 1;
      text += literal[at];
    }
    at += 1;
    return text;
  };
  return list();
}
