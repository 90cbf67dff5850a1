import { InvalidArgumentError } from 'commander';

const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|min|h|d)?$/;
const SECONDS: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  m: 60,
  min: 60,
  h: 3600,
  d: 86_400,
};

/** Reads a whole number within bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`It takes a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}

/**
 * Reads a span of time as seconds.
 *
 * @example seconds('15m') // 900
 */
export function seconds(text: string): number {
  const [, amount, unit = 's'] = DURATION.exec(text) ?? [];
  if (amount === undefined) {
    throw new InvalidArgumentError('It takes a span of time such as 90, 90s, 15m, 2h or 1d.');
  }
  return Number(amount) * (SECONDS[unit] ?? 1);
}

/** Reads a span of time as whole seconds within bounds. */
export function secondsWithin(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = seconds(text);
    if (!Number.isInteger(value) || value < min || value > max) {
      throw new InvalidArgumentError(`It takes whole seconds from ${min} to ${max}.`);
    }
    return value;
  };
}

/** Gathers an option that may be given more than once. */
export function several(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}

/** Gathers `name=value`. */
export function namedValues(
  text: string,
  before: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It takes name=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}
