import type { ToolAnnotations } from '@modelcontextprotocol/server';
import type { z } from 'zod';

import type { JsonObject } from '../../shared/json-value.ts';
import { parseWith } from '../../shared/parse-with.ts';
import type { Scope } from '../../shared/scopes.ts';
import { invalidRequest } from '../middleware/read-json.ts';
import type { ApiRequest } from './api-call.ts';

/** Who is calling, as far as a tool has to know. */
export interface ToolCaller {
  /** The only queues the token is for; undefined: all. */
  readonly queues: ReadonlySet<string> | undefined;
  readonly scopes: ReadonlySet<string>;
}

interface ToolTexts {
  /** snake_case. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** All that an agent has to know: what it does, when to use it, what comes back, what to do then. */
  readonly description: string;
  /** What the token must allow. */
  readonly scope: Scope;
  readonly hints: ToolAnnotations;
  /** What a success answers with; none: the document that the description names. */
  readonly output?: z.ZodType;
  /** Makes the tool's answer of the API's; default: the same. */
  answer?(body: JsonObject): JsonObject;
}

interface ToolOf<Input extends z.ZodType> extends ToolTexts {
  readonly input: Input;
  /** The one request that the tool is. */
  request(input: z.output<Input>, caller: ToolCaller): ApiRequest;
}

/** One thing that an agent can do: one request to the API, in the words of an agent. */
export interface Tool extends ToolTexts {
  readonly input: z.ZodType;
  /** @throws {LeaseholdError} `invalid_request` naming the fields */
  request(given: unknown, caller: ToolCaller): ApiRequest;
}

/** @example export const release = tool({ name: 'release', …, input: z.strictObject({ … }), request: (input) => … }) */
export function tool<Input extends z.ZodType>(definition: ToolOf<Input>): Tool {
  return {
    ...definition,
    request: (given, caller) => {
      const parsed = parseWith(definition.input, given);
      if (!parsed.ok) throw invalidRequest(parsed.problems);
      return definition.request(parsed.value, caller);
    },
  };
}
