/**
 * Does a JSON number survive the trip through a double? JavaScript reads 9007199254740993 as …992 without a word;
 * a job whose order number changed by one is worse than a refused job.
 *
 * The rule: the shortest decimal text of the double must name the same number as the text given. So 1.0, 1e2 and
 * 0.1 are fine, while digits beyond the double's own, overflow (1e400) and underflow (1e-400) are not.
 *
 * @param text a number in JSON's grammar
 * @example isExactJsonNumber('0.1') // true
 * @example isExactJsonNumber('9007199254740993') // false
 */
export function isExactJsonNumber(text: string): boolean {
  const value = Number(text);
  if (!Number.isFinite(value)) return false;
  return canonicalDecimal(text) === canonicalDecimal(String(value));
}

/** `digits e exponent` with no zero at either end of the digits: equal texts are equal numbers. */
function canonicalDecimal(text: string): string {
  const exponentAt = text.search(/[eE]/);
  const mantissa = exponentAt === -1 ? text : text.slice(0, exponentAt);
  const exponent = exponentAt === -1 ? 0 : Number(text.slice(exponentAt + 1));
  const negative = mantissa.startsWith('-');
  const unsigned = negative ? mantissa.slice(1) : mantissa;
  const pointAt = unsigned.indexOf('.');
  const fractionDigits = pointAt === -1 ? 0 : unsigned.length - pointAt - 1;
  const digits =
    pointAt === -1 ? unsigned : unsigned.slice(0, pointAt) + unsigned.slice(pointAt + 1);

  let start = 0;
  while (start < digits.length && digits[start] === '0') start += 1;
  let end = digits.length;
  while (end > start && digits[end - 1] === '0') end -= 1;
  if (start === end) return '0';
  const scale = exponent - fractionDigits + (digits.length - end);
  return `${negative ? '-' : ''}${digits.slice(start, end)}e${scale}`;
}
