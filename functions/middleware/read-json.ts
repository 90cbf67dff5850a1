import type { z } from 'zod';

import { LeaseholdError } from '../../shared/errors.ts';
import { parseJsonBytes } from '../../shared/json-text.ts';
import { isJsonMediaType } from '../../shared/media-type.ts';
import { parseWith } from '../../shared/parse-with.ts';
import type { RouteContext } from '../routes/route.ts';
import { readBody } from './read-body.ts';

/**
 * The body as a message of the given shape.
 *
 * @throws {LeaseholdError} `unsupported_media_type`, `body_too_large`, `invalid_json`, `invalid_request`
 */
export async function readJson<Schema extends z.ZodType>(
  context: RouteContext,
  schema: Schema,
): Promise<z.output<Schema>> {
  if (!isJsonMediaType(context.req.header('content-type'))) {
    throw new LeaseholdError(
      'unsupported_media_type',
      'The Content-Type must be application/json, in UTF-8.',
    );
  }
  if ((context.req.header('content-encoding') ?? 'identity') !== 'identity') {
    throw new LeaseholdError('unsupported_media_type', 'A compressed body is not accepted.');
  }
  const json = parseJsonBytes(await readBody(context));
  if (!json.ok) {
    const [first] = json.problems;
    throw new LeaseholdError('invalid_json', sentence(first?.path ?? '$', first?.message ?? ''), {
      problems: json.problems,
    });
  }
  const parsed = parseWith(schema, json.value);
  if (!parsed.ok) throw invalidRequest(parsed.problems);
  return parsed.value;
}

/**
 * The same for a message of which every field is optional: no body at all is the empty object.
 *
 * @throws {LeaseholdError} as `readJson`
 */
export async function readOptionalJson<Schema extends z.ZodType>(
  context: RouteContext,
  schema: Schema,
): Promise<z.output<Schema>> {
  if ((await readBody(context)).length > 0) return await readJson(context, schema);
  const parsed = parseWith(schema, {});
  if (!parsed.ok) throw invalidRequest(parsed.problems);
  return parsed.value;
}

/** Field faults as an error whose message names the first of them. */
export function invalidRequest(
  problems: readonly { readonly path: string; readonly message: string }[],
): LeaseholdError {
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  const message =
    first === undefined ? 'The request is invalid.' : `${first.path} ${first.message}`;
  return new LeaseholdError('invalid_request', `${message}${more}`, { problems });
}

function sentence(path: string, message: string): string {
  return path === '$' ? message : `${path} ${message}.`;
}
