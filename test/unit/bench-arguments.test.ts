import { describe, expect, test } from 'vitest';
import { optionNames, parseParameters } from '../bench/support/parse-parameters.ts';
import { readArguments } from '../bench/support/read-arguments.ts';

const KNOWN = ['burn-down', 'claimers'];
const DEFAULTS = { clients: [1, 8] as readonly number[], cleanSeconds: 10 };

describe('the command line of a benchmark', () => {
  test('names, flags and parameters are told apart', () => {
    const given = readArguments(
      ['claimers', '--short', '--json', 'out.json', '--clients', '4'],
      KNOWN,
    );
    expect(given).toEqual({
      names: ['claimers'],
      short: true,
      write: false,
      help: false,
      json: 'out.json',
      parameters: new Map([['clients', '4']]),
    });
  });

  test.each([
    [['nothing'], 'Unknown: nothing'],
    [['claimers', '--json'], '--json: give a value'],
    [['claimers', 'burn-down', '--json', 'out.json'], '--json: name one bench'],
    [['claimers', '--short', '--write'], '--write: the published figures'],
  ])('%j is refused', (given, message) => {
    expect(() => readArguments(given, KNOWN)).toThrow(message);
  });

  test('a parameter replaces its default, and only that', () => {
    expect(parseParameters(DEFAULTS, new Map([['clients', '2,16']]))).toEqual({
      clients: [2, 16],
      cleanSeconds: 10,
    });
    expect(parseParameters(DEFAULTS, new Map([['clean-seconds', '0.5']]))).toEqual({
      clients: [1, 8],
      cleanSeconds: 0.5,
    });
    expect(optionNames(DEFAULTS)).toEqual(['--clients', '--clean-seconds']);
  });

  test.each([
    ['minutes', '2', '--minutes: this bench has --clients, --clean-seconds'],
    ['clients', 'many', '--clients many: give a number'],
    ['clients', '-1', '--clients -1: give a number'],
    ['clean-seconds', '1,2', '--clean-seconds: one number'],
  ])('--%s %s is refused', (name, value, message) => {
    expect(() => parseParameters(DEFAULTS, new Map([[name, value]]))).toThrow(message);
  });
});
