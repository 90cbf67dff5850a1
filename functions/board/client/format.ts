/** Times and counts as the board writes them: short, of a steady width, exact in the title beside them. */
import type { Count } from './wire.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** 0 → "0s", 75 → "1m 15s", 2820 → "47m", 18720 → "5h 12m", 273600 → "3d 4h". Never negative. */
export function span(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < MINUTE) return `${whole}s`;
  if (whole < 10 * MINUTE) return parts(whole, MINUTE, 'm', 1, 's');
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)}m`;
  if (whole < 2 * DAY) return parts(whole, HOUR, 'h', MINUTE, 'm');
  return parts(whole, DAY, 'd', HOUR, 'h');
}

function parts(whole: number, big: number, bigUnit: string, small: number, unit: string): string {
  const rest = Math.floor((whole % big) / small);
  return `${Math.floor(whole / big)}${bigUnit}${rest === 0 ? '' : ` ${rest}${unit}`}`;
}

export function secondsSince(instant: string, nowMs: number): number {
  return (nowMs - Date.parse(instant)) / 1000;
}

/** "5m ago", "in 5m", "now". */
export function relative(instant: string, nowMs: number): string {
  const seconds = secondsSince(instant, nowMs);
  if (Math.abs(seconds) < 1) return 'now';
  return seconds < 0 ? `in ${span(Math.ceil(-seconds))}` : `${span(seconds)} ago`;
}

/** Milliseconds of an attempt: 240 → "240 ms", 3400 → "3.4 s", then as spans. */
export function duration(fromInstant: string, toInstant: string): string {
  const ms = Math.max(0, Date.parse(toInstant) - Date.parse(fromInstant));
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : span(ms / 1000);
}

export function counted({ count, capped }: Count): string {
  return `${wholeNumber(count)}${capped ? '+' : ''}`;
}

/** 12345 → "12,345", the same in every locale. */
export function wholeNumber(value: number): string {
  return String(Math.trunc(value)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** "1 job", "3 jobs", "1,000+ jobs". */
export function plural(count: number, one: string, more = `${one}s`, capped = false): string {
  return `${wholeNumber(count)}${capped ? '+' : ''} ${count === 1 && !capped ? one : more}`;
}

/** "14:03:22" for a moment of today, else "12 Mar 14:03"; of the zone that the viewer's clock is in. */
export function clockTime(instant: string, nowMs: number): string {
  const then = new Date(instant);
  const now = new Date(nowMs);
  const time = [then.getHours(), then.getMinutes(), then.getSeconds()].map(two);
  if (then.toDateString() === now.toDateString()) return time.join(':');
  const year = then.getFullYear() === now.getFullYear() ? '' : ` ${then.getFullYear()}`;
  return `${then.getDate()} ${MONTHS[then.getMonth()] ?? ''}${year} ${time.slice(0, 2).join(':')}`;
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/** What an input of type datetime-local holds, with seconds, in the viewer's zone. */
export function localInput(ms: number): string {
  const at = new Date(ms);
  const date = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${date}T${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')}`;
}

/** The last characters of an id: what tells jobs of one minute apart. */
export function shortId(id: string): string {
  return id.slice(-8);
}

/** "attempts_used_up" → "attempts used up". */
export function words(name: string): string {
  return name.replaceAll('_', ' ');
}

export function sentence(name: string): string {
  const text = words(name);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A value as indented JSON; text stays text. */
export function pretty(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}
