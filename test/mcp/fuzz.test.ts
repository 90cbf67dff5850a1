import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createApp } from '../../functions/app.ts';
import type { App } from '../../functions/app.ts';
import { TOOLS } from '../../functions/mcp/all-tools.ts';
import { objectSchema } from '../../functions/mcp/json-schema.ts';
import { createAppHarness } from '../routes/support/app-harness.ts';
import type { AppHarness } from '../routes/support/app-harness.ts';
import { anyField, fieldOf } from '../routes/support/fuzz-values.ts';

const CALLS = 1500;
const SEED = 20_261_130;
const TIMEOUT_MS = 120_000;

let harness: AppHarness;
let app: App;
beforeAll(async () => {
  harness = await createAppHarness();
  // Pauses take no time: a claim that waits is at its end at once.
  let passedMs = 0;
  const { clock } = harness.deps();
  app = createApp(
    harness.deps({
      clock: { now: () => clock.now() + passedMs },
      timer: {
        sleep: async (ms) => {
          passedMs += ms;
        },
      },
    }),
  );
});
afterAll(() => harness.close());

/** Arguments of a tool with odd values, and perhaps a field that it does not know. */
const toolCall = fc.constantFrom(...TOOLS).chain(({ name, input }) => {
  const { properties } = objectSchema(input);
  const fields = Object.keys(properties as Record<string, unknown>);
  return fc
    .tuple(
      fc.array(fieldOf([...fields, 'job_id']), { maxLength: 5 }),
      fc.oneof(
        { arbitrary: fc.constant([]), weight: 6 },
        { arbitrary: fc.tuple(anyField), weight: 1 },
      ),
    )
    .map(([known, others]) => ({ name, arguments: Object.fromEntries([...known, ...others]) }));
});

test(
  'case R19 B.5 odd arguments of every tool: an answer in time, and never a fault of ours',
  { timeout: TIMEOUT_MS },
  async () => {
    let taken = 0;
    const headers = {
      authorization: (await harness.request('GET', '/')).headers.get('authorization') ?? '',
      'content-type': 'application/json',
    };
    await fc.assert(
      fc.asyncProperty(toolCall, async (params) => {
        const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
        const response = await app.fetch(
          new Request('https://fuzz.test/mcp', {
            method: 'POST',
            headers,
            body: JSON.stringify(message),
          }),
        );
        const text = await response.text();
        // A message that cannot be stored as JSON is refused before it is a call.
        if (response.status === 400 && text.includes('"code":"invalid_json"')) return;
        expect(response.status).toBe(200);
        const { result } = JSON.parse(text) as {
          readonly result?: {
            readonly isError?: boolean;
            readonly structuredContent: Readonly<Record<string, unknown>>;
          };
        };
        if (result === undefined) throw new Error(text);
        if (result.isError !== true) taken += 1;
        expect(['internal_error', 'database_error']).not.toContain(
          result.structuredContent['code'],
        );
      }),
      { seed: SEED, numRuns: CALLS },
    );
    expect(taken).toBeGreaterThan(0);
  },
);
