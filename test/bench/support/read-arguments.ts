export interface Arguments {
  readonly names: readonly string[];
  readonly short: boolean;
  readonly write: boolean;
  readonly help: boolean;
  readonly json: string | undefined;
  /** Parameters of the bench: `--seconds 5`. */
  readonly parameters: ReadonlyMap<string, string>;
}

const FLAGS = new Set(['short', 'write', 'help']);

/** @throws with what is wrong, in words for whoever typed it. */
export function readArguments(given: readonly string[], known: readonly string[]): Arguments {
  const names: string[] = [];
  const flags = new Set<string>();
  const options = new Map<string, string>();
  for (let at = 0; at < given.length; at += 1) {
    const argument = given[at] ?? '';
    const name = argument.slice(2);
    if (!argument.startsWith('--')) names.push(argument);
    else if (FLAGS.has(name)) flags.add(name);
    else {
      const value = given[at + 1];
      if (value === undefined || value.startsWith('--'))
        throw new Error(`${argument}: give a value`);
      options.set(name, value);
      at += 1;
    }
  }
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`Unknown: ${unknown.join(', ')}`);
  const json = options.get('json');
  options.delete('json');
  if (json !== undefined && names.length > 1) throw new Error('--json: name one bench');
  if (flags.has('short') && flags.has('write')) {
    throw new Error('--write: the published figures come from full runs, not from --short');
  }
  return {
    names,
    short: flags.has('short'),
    write: flags.has('write'),
    help: flags.has('help'),
    json,
    parameters: options,
  };
}
