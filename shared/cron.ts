import { Cron } from 'croner';

/** Longer is a mistake, and every search costs by it. */
const MAX_CRON_CHARS = 200;
const MAX_ZONE_CHARS = 64;

const FIELDS = [
  { name: 'minute', rule: '0 to 59' },
  { name: 'hour', rule: '0 to 23' },
  { name: 'day of month', rule: '1 to 31, or L for the last' },
  { name: 'month', rule: '1 to 12, or JAN to DEC' },
  { name: 'day of week', rule: '0 to 7 (0 and 7 are Sunday), or SUN to SAT' },
] as const;

/** Short for five fields, so that their meaning is ours and not the library's. */
const MACROS: ReadonlyMap<string, string> = new Map([
  ['@hourly', '0 * * * *'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@weekly', '0 0 * * 0'],
  ['@monthly', '0 0 1 * *'],
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
]);

export const CRON_RULE =
  `must have five fields (${FIELDS.map(({ name }) => name).join(', ')}) of at most ` +
  `${MAX_CRON_CHARS} characters, or be one of ${[...MACROS.keys()].join(', ')}`;
const NO_BOOT_RULE =
  'cannot be "@reboot": functions have no start of their own to fire at; it ' + CRON_RULE;
const SIX_FIELDS_RULE = `${CRON_RULE}; a field for seconds or years is not taken`;
const NEVER_RULE = 'must fire at some time: no year has such a day';
export const ZONE_RULE =
  'must be the IANA name of a time zone, such as "Europe/Oslo" or "UTC"; offsets are not taken';

const FIELD_CHARS = /^[0-9A-Za-z*,/#-]+$/;
const ZONE_CHARS = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;
/** Before every slot that anybody asks for; a pattern without years that is silent from here on is silent for ever. */
const SEARCH_START = new Date(0);

/** The times of one schedule. Instants are milliseconds since the epoch; slots lie on whole minutes. */
export interface SlotTimes {
  /** The first slot later than the instant, or null when there is none until the year 9999. */
  nextAfter(instantMs: number): number | null;
  /**
   * The newest `limit` slots later than `afterMs` and not later than `untilMs`, oldest first. The search starts at the
   * newest, so its cost goes by `limit`, not by the length of the interval.
   */
  between(afterMs: number, untilMs: number, limit: number): number[];
}

/**
 * Which rule an expression breaks, in words that follow the field's name; undefined when it is fine.
 *
 * @example cronProblem('0 0 30 2 *') // 'must fire at some time: no year has such a day'
 */
export function cronProblem(expression: string): string | undefined {
  if (expression.length > MAX_CRON_CHARS) return CRON_RULE;
  if (/^\s*@reboot\s*$/i.test(expression)) return NO_BOOT_RULE;
  const fields = fieldsOf(expression);
  if (fields.length > FIELDS.length) return SIX_FIELDS_RULE;
  if (fields.length < FIELDS.length) return CRON_RULE;
  for (const [at, { name, rule }] of FIELDS.entries()) {
    if (!isField(fields, at))
      return `has a wrong ${name}: it takes ${rule}, "*", lists, ranges and steps`;
  }
  const first = parse(fields, 'UTC').nextRun(SEARCH_START);
  return first === null ? NEVER_RULE : undefined;
}

/**
 * Which rule the name of a zone breaks; undefined when this runtime knows it.
 *
 * @example zoneProblem('EST5') // ZONE_RULE
 */
export function zoneProblem(zone: string): string | undefined {
  if (zone.length > MAX_ZONE_CHARS || !ZONE_CHARS.test(zone)) return ZONE_RULE;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return undefined;
  } catch {
    return ZONE_RULE;
  }
}

/**
 * The times of an expression in a zone, by the zone's rules as this runtime knows them.
 *
 * **When clocks change.** An expression whose minute and hour are plain numbers, lists or ranges names local times: each
 * comes exactly once a local day. One that falls into the gap comes at the first minute after it; one that the day has
 * twice comes the first time. All others (`*` or a step in minute or hour, or every hour from 0 to 23) are intervals: they
 * follow real time through the change.
 *
 * @throws {RangeError} when `cronProblem` or `zoneProblem` has something to say
 * @example slotTimes('30 2 * * *', 'Europe/Oslo').nextAfter(Date.UTC(2026, 11, 1))
 */
export function slotTimes(expression: string, zone: string): SlotTimes {
  const problem = cronProblem(expression) ?? zoneProblem(zone);
  if (problem !== undefined) throw new RangeError(`The schedule's time ${problem}.`);
  const cron = parse(fieldsOf(expression), zone);
  return {
    nextAfter: (instantMs) => cron.nextRun(wholeSecond(instantMs))?.getTime() ?? null,
    between: (afterMs, untilMs, limit) => {
      const slots: number[] = [];
      // The library counts to before its reference, so one second on includes the slot of this very minute.
      let before = wholeSecond(untilMs).getTime() + 1000;
      while (slots.length < limit) {
        const slot = cron.previousRuns(1, new Date(before))[0]?.getTime();
        if (slot === undefined || slot <= afterMs) break;
        slots.unshift(slot);
        before = slot;
      }
      return slots;
    },
  };
}

function fieldsOf(expression: string): string[] {
  const text = expression.trim();
  const fields = (MACROS.get(text) ?? text).split(/\s+/);
  // "Every hour" in other words; the library would take it for a list of hours, and be silent in a repeated one.
  return fields.map((field, at) => (at === 1 && field === '0-23' ? '*' : field));
}

function isField(fields: readonly string[], at: number): boolean {
  const field = fields[at] ?? '';
  if (!FIELD_CHARS.test(field)) return false;
  try {
    parse(
      FIELDS.map((_, other) => (other === at ? field : '*')),
      'UTC',
    );
    return true;
  } catch {
    return false;
  }
}

/** Without a function to call the library schedules nothing: it is the arithmetic alone. */
function parse(fields: readonly string[], zone: string): Cron {
  return new Cron(fields.join(' '), {
    mode: '5-part',
    timezone: zone,
    fixedTimeRule: 'no-wildcard',
    paused: true,
  });
}

function wholeSecond(instantMs: number): Date {
  return new Date(Math.floor(instantMs / 1000) * 1000);
}
