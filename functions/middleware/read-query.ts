import type { z } from 'zod';

import { parseWith } from '../../shared/parse-with.ts';
import type { RouteContext } from '../routes/route.ts';
import { invalidRequest } from './read-json.ts';

/**
 * The query as a message of the given shape.
 *
 * @throws {LeaseholdError} `invalid_request`
 */
export function readQuery<Schema extends z.ZodType>(
  context: RouteContext,
  schema: Schema,
): z.output<Schema> {
  const query = parseWith(schema, queryOf(context));
  if (!query.ok) throw invalidRequest(query.problems);
  return query.value;
}

/**
 * One part of the path.
 *
 * @param name as in the pattern of the route
 * @throws {LeaseholdError} `invalid_request`
 */
export function readParam<Schema extends z.ZodType>(
  context: RouteContext,
  name: string,
  schema: Schema,
): z.output<Schema> {
  const param = parseWith(schema, context.req.param(name));
  if (param.ok) return param.value;
  throw invalidRequest(param.problems.map(({ message }) => ({ path: name, message })));
}

/** Each parameter once: of two values for one name, neither can be the one that was meant. */
function queryOf(context: RouteContext): Record<string, string> {
  const query = new URL(context.req.url).searchParams;
  for (const name of query.keys()) {
    if (query.getAll(name).length > 1) {
      throw invalidRequest([{ path: name, message: 'is given more than once' }]);
    }
  }
  // Not by assignment: that would lose a parameter named __proto__ instead of refusing it.
  return Object.fromEntries(query);
}
