/** One row that a logical decoding of `pgoutput` reports as inserted: text by column. */
export interface InsertedRow {
  readonly table: string;
  readonly columns: Readonly<Record<string, string | null>>;
}

/**
 * The inserts among messages of the built-in output plugin, protocol 1, in the order of the log; other changes of rows are
 * given by their letter alone (`U`, `D`, `T`).
 */
export function decodePgoutput(messages: readonly Buffer[]): (InsertedRow | string)[] {
  const relations = new Map<number, { readonly table: string; readonly names: string[] }>();
  return messages.flatMap((message): (InsertedRow | string)[] => {
    const reader = createReader(message);
    const kind = reader.letter();
    if (kind === 'R') {
      const oid = reader.int32();
      const table = `${reader.text()}.${reader.text()}`;
      reader.letter(); // replica identity
      const names = Array.from({ length: reader.int16() }, () => {
        reader.letter(); // flags
        const name = reader.text();
        reader.int32(); // type
        reader.int32(); // modifier
        return name;
      });
      relations.set(oid, { table, names });
      return [];
    }
    if (kind === 'I') {
      const relation = relations.get(reader.int32());
      if (relation === undefined) throw new Error('a row of an unknown table');
      reader.letter(); // the new row follows
      const values = Array.from({ length: reader.int16() }, () =>
        reader.letter() === 't' ? reader.bytes(reader.int32()) : null,
      );
      const columns = Object.fromEntries(
        relation.names.map((name, at): [string, string | null] => [name, values[at] ?? null]),
      );
      return [{ table: relation.table, columns }];
    }
    return kind === 'B' || kind === 'C' ? [] : [kind];
  });
}

interface Reader {
  letter(): string;
  int16(): number;
  int32(): number;
  text(): string;
  bytes(count: number): string;
}

function createReader(message: Buffer): Reader {
  let at = 0;
  const skip = (count: number): number => {
    at += count;
    return at - count;
  };
  const bytes = (count: number): string => message.toString('utf8', skip(count), at);
  return {
    letter: () => bytes(1),
    int16: () => message.readInt16BE(skip(2)),
    int32: () => message.readInt32BE(skip(4)),
    bytes,
    text: () => {
      const text = bytes(message.indexOf(0, at) - at);
      skip(1);
      return text;
    },
  };
}
