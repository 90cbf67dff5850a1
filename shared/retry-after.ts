const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const TIME = '(?<hour>\\d{2}):(?<minute>\\d{2}):(?<second>\\d{2})';

/** The three forms of an HTTP date (RFC 9110, 5.6.7): today's, and the two that a recipient must still read. */
const DATES: readonly RegExp[] = [
  new RegExp(`^[a-z]{3}, (?<day>\\d{2}) (?<month>[a-z]{3}) (?<year>\\d{4}) ${TIME} GMT$`, 'i'),
  new RegExp(`^[a-z]{6,9}, (?<day>\\d{2})-(?<month>[a-z]{3})-(?<year>\\d{2}) ${TIME} GMT$`, 'i'),
  new RegExp(`^[a-z]{3} (?<month>[a-z]{3}) (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`, 'i'),
];

/**
 * Reads a `Retry-After` header: seconds, or any of the three HTTP dates. Junk says nothing, which is not the same as "at
 * once": text, a negative or broken number, an impossible date and two headers joined into one give undefined.
 *
 * @param header its value, several joined by a comma as `Headers.get` gives them; null when there is none
 * @param nowMs milliseconds since the Unix epoch
 * @returns seconds from now, 0 for the past, unbounded; or undefined
 * @example parseRetryAfter('120', clock.now()) // 120
 */
export function parseRetryAfter(header: string | null, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,12}$/.test(text)) return Number(text);
  for (const form of DATES) {
    const fields = form.exec(text)?.groups;
    if (fields === undefined) continue;
    const at = instantOf(fields, nowMs);
    return at === undefined ? undefined : Math.max(0, Math.ceil((at - nowMs) / 1000));
  }
  return undefined;
}

function instantOf(fields: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const month = MONTHS.indexOf((fields['month'] ?? '').toLowerCase());
  const [day, hour, minute, second] = ['day', 'hour', 'minute', 'second'].map((name) =>
    Number(fields[name]),
  ) as [number, number, number, number];
  const year = fullYear(fields['year'] ?? '', nowMs);
  // 60 is a leap second.
  if (month < 0 || hour > 23 || minute > 59 || second > 60) return undefined;
  const midnight = new Date(Date.UTC(year, month, day));
  if (midnight.getUTCMonth() !== month || midnight.getUTCDate() !== day) return undefined;
  return midnight.getTime() + ((hour * 60 + minute) * 60 + second) * 1000;
}

/** Two digits mean the nearest such year that is at most 50 years ahead, as the RFC has it. */
function fullYear(digits: string, nowMs: number): number {
  const year = Number(digits);
  if (digits.length !== 2) return year;
  const thisYear = new Date(nowMs).getUTCFullYear();
  const ofThisCentury = thisYear - (thisYear % 100) + year;
  if (ofThisCentury > thisYear + 50) return ofThisCentury - 100;
  return ofThisCentury <= thisYear - 50 ? ofThisCentury + 100 : ofThisCentury;
}
