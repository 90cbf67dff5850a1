import type { AttemptError } from './queue/fail.ts';
import { ClassedError } from './handler-errors.ts';
import { jsonTextBytes } from './json-size.ts';
import type { JsonValue } from './json-value.ts';
import { MAX_ERROR_BYTES, MAX_ERROR_MESSAGE_CHARS } from './limits.ts';
import { safeText } from './safe-text.ts';

const MAX_CAUSES = 5;
const MAX_MEMBERS = 5;
const MAX_INNER_MESSAGE_CHARS = 300;
const MAX_NAME_CHARS = 100;
const MAX_STACK_CHARS = 2000;

/**
 * Turns anything that can be thrown into a failure that can be stored. JavaScript throws anything: null, symbols,
 * proxies whose every trap throws, errors that cause themselves. So each property is read once, in a guard, in a
 * loop with a bound; nothing is serialised whole, and `toJSON` is never called.
 *
 * @returns at most `MAX_ERROR_BYTES` of JSON with a message that is never empty and is the original one, cut to
 *   `MAX_ERROR_MESSAGE_CHARS`; code `handler_error` unless a `ClassedError` names its own
 * @example describeError(new Error('boom')) // { code: 'handler_error', name: 'Error', message: 'boom', … }
 */
export function describeError(thrown: unknown): AttemptError {
  return withinBytes({
    code: codeOf(thrown),
    ...describeOne(thrown, MAX_ERROR_MESSAGE_CHARS),
    ...listed('causes', describeCauses(thrown)),
    ...describeMembers(thrown),
    ...describeStack(thrown),
  });
}

function codeOf(thrown: unknown): string {
  try {
    return thrown instanceof ClassedError ? thrown.code : 'handler_error';
  } catch {
    return 'handler_error';
  }
}

function describeOne(thrown: unknown, maxChars: number): { message: string; name?: string } {
  if (!isObject(thrown)) return { message: describePrimitive(thrown, maxChars) };
  const name = textOf(read(thrown, 'name'), MAX_NAME_CHARS);
  const message = textOf(read(thrown, 'message'), maxChars);
  return {
    ...(name === undefined ? {} : { name }),
    message: message ?? `${name ?? 'An object'} was thrown without a message`,
  };
}

function describePrimitive(thrown: unknown, maxChars: number): string {
  if (typeof thrown === 'string') return textOf(thrown, maxChars) ?? 'An empty string was thrown';
  return safeText(`${String(thrown)} was thrown`, maxChars);
}

function describeCauses(thrown: unknown): JsonValue[] {
  const causes: JsonValue[] = [];
  const seen = new Set<unknown>([thrown]);
  let cause = isObject(thrown) ? read(thrown, 'cause') : undefined;
  while (cause !== undefined && causes.length < MAX_CAUSES && !seen.has(cause)) {
    seen.add(cause);
    causes.push(describeOne(cause, MAX_INNER_MESSAGE_CHARS));
    cause = isObject(cause) ? read(cause, 'cause') : undefined;
  }
  return causes;
}

/** The members of an AggregateError: how many, and the first few. */
function describeMembers(thrown: unknown): { errors?: JsonValue[]; error_count?: number } {
  const members = isObject(thrown) ? read(thrown, 'errors') : undefined;
  if (!isArray(members)) return {};
  const count = read(members, 'length');
  if (typeof count !== 'number' || count === 0) return {};
  const errors: JsonValue[] = [];
  for (let at = 0; at < Math.min(count, MAX_MEMBERS); at += 1) {
    errors.push(describeOne(read(members, String(at)), MAX_INNER_MESSAGE_CHARS));
  }
  return { errors, error_count: count };
}

function describeStack(thrown: unknown): { stack?: string } {
  const stack = isObject(thrown) ? textOf(read(thrown, 'stack'), MAX_STACK_CHARS) : undefined;
  return stack === undefined ? {} : { stack };
}

/** Drops what is least needed first; control characters can make a short text six times as long in JSON. */
function withinBytes(
  error: AttemptError & { causes?: JsonValue; errors?: JsonValue },
): AttemptError {
  let smaller: AttemptError = error;
  for (const detail of ['stack', 'errors', 'causes', 'name']) {
    if (jsonTextBytes(smaller) <= MAX_ERROR_BYTES) return smaller;
    smaller = without(smaller, detail);
  }
  while (jsonTextBytes(smaller) > MAX_ERROR_BYTES) {
    const { message } = smaller;
    smaller = { ...smaller, message: safeText(message, Math.floor(message.length / 2)) };
  }
  return smaller;
}

function without(error: AttemptError, detail: string): AttemptError {
  const { code, message, ...details } = error;
  const kept = Object.entries(details).filter(([name]) => name !== detail);
  return { ...Object.fromEntries(kept), code, message };
}

function listed(name: string, values: JsonValue[]): Record<string, JsonValue> {
  return values.length === 0 ? {} : { [name]: values };
}

function textOf(value: unknown, maxChars: number): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = safeText(value, maxChars);
  return text === '' ? undefined : text;
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function isArray(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/** A getter or a proxy may throw, loop-free but rude; what cannot be read counts as absent. */
function read(object: object, key: string): unknown {
  try {
    return Reflect.get(object, key);
  } catch {
    return undefined;
  }
}
