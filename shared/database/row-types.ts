/** Finds the parser for a column type, in the shape that both Postgres drivers take. */
export interface TypeParsers {
  getTypeParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown;
}

const DATE_WITHOUT_ZONE_OIDS: readonly number[] = [1082, 1114, 1115, 1182]; // date, timestamp, and their arrays
const BYTEA_OID = 17;

/**
 * The parsers of the driver, but for the types that it would read differently from place to place:
 * - `date` and `timestamp` stay text: the drivers make them a `Date` in the process's own time zone;
 * - `bytea` becomes a plain `Uint8Array`: each driver has a `Buffer` of its own.
 *
 * All else is the same in both: 64-bit integers and `numeric` are strings, json is parsed, `timestamptz` is a `Date`.
 *
 * The HTTP driver honours custom types only when they come with the query; given to `neon()` they are ignored.
 *
 * @example sql.query(text, values, { types: rowTypes(types) })
 */
export function rowTypes(driver: TypeParsers): TypeParsers {
  return {
    getTypeParser: (oid, format) => {
      if (DATE_WITHOUT_ZONE_OIDS.includes(oid)) return asText;
      return oid === BYTEA_OID ? parseBytea : driver.getTypeParser(oid, format);
    },
  };
}

function asText(text: string): string {
  return text;
}

/** `\x01ff` to bytes. */
function parseBytea(text: string): Uint8Array {
  const pairs = text.slice(2).match(/../g) ?? [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}
