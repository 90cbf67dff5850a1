/** An agent has no other text than these: they have to say all, and be true. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';

import { TOOLS } from '../../functions/mcp/all-tools.ts';
import { INSTRUCTIONS } from '../../functions/mcp/instructions.ts';
import { objectSchema } from '../../functions/mcp/json-schema.ts';
import { SCOPES } from '../../shared/scopes.ts';
import { readIfPresent } from '../tidy/source-files.ts';

interface Property {
  readonly description?: string;
}

const NAMES = new Set(TOOLS.map(({ name }) => name));
const cases = TOOLS.map((tool) => ({ name: tool.name, tool }));

/** Words in backticks that look like tools. */
function namedTools(text: string): string[] {
  return [...text.matchAll(/`([a-z]+(?:_[a-z]+)*)`/g)].map(([, word = '']) => word);
}

describe('B.5 the tools describe themselves', () => {
  test('names are plain and unlike', () => {
    expect(NAMES.size).toBe(TOOLS.length);
    for (const name of NAMES) expect(name).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
  });

  test.each(cases)(
    '$name says what it does, what every field is, and what may be written',
    ({ tool }) => {
      expect(tool.description.length).toBeGreaterThan(80);
      expect(tool.title.length).toBeGreaterThan(2);
      expect(SCOPES).toContain(tool.scope);
      const { properties, additionalProperties } = objectSchema(tool.input);
      expect(additionalProperties).toBe(false);
      const undescribed = Object.entries(properties as Record<string, Property>)
        .filter(([, { description = '' }]) => description.length < 8)
        .map(([field]) => field);
      expect(undescribed).toEqual([]);
    },
  );

  test.each(cases)('$name has schemas that clients can compile', ({ tool }) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.compile(objectSchema(tool.input));
    if (tool.output === undefined) return;
    const output = objectSchema(tool.output);
    ajv.compile(output);
    // Answers may gain fields.
    expect(output['additionalProperties']).toBeUndefined();
  });

  test.each(cases)('$name is told apart from what only looks', ({ tool }) => {
    expect(tool.hints.readOnlyHint === true).toBe(tool.scope === 'read');
  });

  test('what looks like a tool in a text is one, or a field', () => {
    const fields = new Set(
      TOOLS.flatMap(({ input, output }) =>
        [input, ...(output === undefined ? [] : [output])].flatMap((schema) =>
          JSON.stringify(objectSchema(schema)).match(/[a-z]+(?:_[a-z]+)*/g),
        ),
      ),
    );
    const documents = new Set(['jobs', 'next_cursor', 'actor', 'asked_for_human']);
    const unknown = TOOLS.flatMap(({ description }) => namedTools(description)).filter(
      (word) => !NAMES.has(word) && !fields.has(word) && !documents.has(word),
    );
    expect(unknown).toEqual([]);
  });

  test('the instructions name how a job is taken and ended, with tools that exist', () => {
    for (const name of ['claim', 'heartbeat', 'complete', 'fail', 'release', 'snooze']) {
      expect(NAMES).toContain(name);
      expect(INSTRUCTIONS).toMatch(new RegExp(`\\b${name}\\b`));
    }
    const named = INSTRUCTIONS.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [];
    const values = new Set(['lease_lost', 'fencing_token', 'lease_expires_at', 'claim_id']);
    const others = ['idempotency_key', 'retry_after_seconds'];
    const unknown = named.filter(
      (word) => !NAMES.has(word) && !values.has(word) && !others.includes(word),
    );
    expect(unknown).toEqual([]);
  });

  test('docs/mcp.md lists them with their scopes', () => {
    const page = readIfPresent('docs/mcp.md') ?? '';
    const rows = [...page.matchAll(/^\| `(\w+)` +\| `(\w+)` +\|/gm)].map(([, name, scope]) => ({
      name,
      scope,
    }));
    expect(rows).toEqual(TOOLS.map(({ name, scope }) => ({ name, scope })));
  });
});
