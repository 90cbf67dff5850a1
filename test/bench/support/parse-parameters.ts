import type { Parameters } from './bench.ts';

/**
 * Overlays what the command line gives: `--seconds 5` for a number, `--clients 1,8` for a list.
 *
 * @throws naming the option, when it is unknown or no number.
 */
export function parseParameters<P extends Parameters>(
  defaults: P,
  given: ReadonlyMap<string, string>,
): P {
  const changed: Record<string, number | readonly number[]> = { ...defaults };
  for (const [option, text] of given) {
    const name = option.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    const present = defaults[name];
    if (present === undefined) {
      throw new Error(`--${option}: this bench has ${optionNames(defaults).join(', ')}`);
    }
    const numbers = text.split(',').map(Number);
    if (text === '' || numbers.some((value) => !Number.isFinite(value) || value < 0)) {
      throw new Error(`--${option} ${text}: give a number, or several with commas`);
    }
    const [first] = numbers;
    if (typeof present !== 'number') changed[name] = numbers;
    else if (numbers.length > 1 || first === undefined) throw new Error(`--${option}: one number`);
    else changed[name] = first;
  }
  return changed as P;
}

/** `claimSeconds` → `--claim-seconds`. */
export function optionNames(parameters: Parameters): readonly string[] {
  return Object.keys(parameters).map(
    (name) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
  );
}
