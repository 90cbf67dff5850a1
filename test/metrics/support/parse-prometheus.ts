/** One sample as a scraper reads it. */
export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"/y;

/**
 * Reads the text format of Prometheus (version 0.0.4) as strictly as it is specified: help and type come once a name and
 * before its samples, samples of a name stand together, no sample comes twice, and the text ends with a line feed.
 */
export function parsePrometheus(text: string): readonly ParsedSample[] {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const samples: ParsedSample[] = [];
  const typed = new Set<string>();
  const seen = new Set<string>();
  let current = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const meta = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line);
    if (meta !== null) {
      const [, kind, name = '', rest] = meta;
      if (kind === 'TYPE') {
        if (rest !== 'gauge' || typed.has(name)) throw new Error(`a second or odd type: ${line}`);
        typed.add(name);
        current = name;
      }
      continue;
    }
    const sample = parseSample(line);
    if (sample.name !== current) throw new Error(`not with its type: ${line}`);
    const identity = JSON.stringify([
      sample.name,
      Object.keys(sample.labels).toSorted(),
      sample.labels,
    ]);
    if (seen.has(identity)) throw new Error(`twice: ${line}`);
    seen.add(identity);
    samples.push(sample);
  }
  return samples;
}

function parseSample(line: string): ParsedSample {
  const name = NAME.exec(line)?.[0];
  if (name === undefined) throw new Error(`no name: ${line}`);
  let at = name.length;
  const labels: Record<string, string> = {};
  if (line[at] === '{') {
    do {
      LABEL.lastIndex = at + 1;
      const label = LABEL.exec(line);
      const [, key, value] = label ?? [];
      if (label === null || key === undefined || value === undefined || key in labels) {
        throw new Error(`bad label: ${line}`);
      }
      labels[key] = value.replaceAll(/\\(.)/g, (_, one: string) => (one === 'n' ? '\n' : one));
      at = LABEL.lastIndex;
    } while (line[at] === ',');
    if (line[at] !== '}') throw new Error(`labels do not end: ${line}`);
    at += 1;
  }
  const value = / (\S+)$/.exec(line.slice(at))?.[1];
  if (value === undefined || Number.isNaN(Number(value))) throw new Error(`no value: ${line}`);
  return { name, labels, value: Number(value) };
}
