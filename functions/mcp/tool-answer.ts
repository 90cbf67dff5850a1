import type { CallToolResult } from '@modelcontextprotocol/server';

import type { JsonObject } from '../../shared/json-value.ts';
import type { ApiAnswer } from './api-call.ts';
import type { Tool } from './tool.ts';

/** An expected answer, and no error: whoever holds the lease has to hear of it as such. */
const LEASE_LOST: JsonObject = {
  outcome: 'lease_lost',
  advice:
    'You no longer hold this job: the lease ran out, or the job ended or was taken by another. Stop working on it, ' +
    'undo nothing, report nothing more about it, and claim the next one.',
};

/** Of a problem document, what a caller can act on. */
const PROBLEM_MEMBERS = [
  'code',
  'detail',
  'remedy',
  'problems',
  'retry_after_seconds',
  'request_id',
] as const;

/** The answer of the API as that of the tool: an outcome is content, a refusal an error that says what to do. */
export function toolAnswer(tool: Tool, { status, body }: ApiAnswer): CallToolResult {
  if (status < 400) return structured(tool.answer?.(body) ?? body);
  if (body['code'] === 'lease_lost') return structured(LEASE_LOST);
  return { ...structured(refusal(body)), isError: true };
}

/** The problem document without what only HTTP needs. */
export function refusal(problem: JsonObject): JsonObject {
  const { type: _type, title: _title, status: _status, ...facts } = problem;
  const first = PROBLEM_MEMBERS.flatMap((name) => {
    const value = facts[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(first), ...facts };
}

function structured(content: JsonObject): CallToolResult {
  return {
    structuredContent: { ...content },
    // The same as text, for models that read nothing else.
    content: [{ type: 'text', text: JSON.stringify(content) }],
  };
}
