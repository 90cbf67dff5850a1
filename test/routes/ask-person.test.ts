import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import { work } from '../../shared/client/work.ts';
import { defineHandler } from '../../shared/handler.ts';
import { AskPerson } from '../../shared/handler-errors.ts';
import { createClientHarness } from '../client/support/client-harness.ts';
import type { ClientHarness } from '../client/support/client-harness.ts';
import { createAppHarness } from './support/app-harness.ts';
import type { AppHarness } from './support/app-harness.ts';
import { added, jobOf } from './support/pull.ts';

const QUESTION = 'Which of the two addresses counts?';

/** Asks when nobody has answered yet; the answer is what it returns. */
const answered = (note: string | null): string => {
  if (note === null) throw new AskPerson(QUESTION);
  return note;
};

let app: AppHarness;
let over: ClientHarness;
beforeAll(async () => {
  const asking = defineHandler({
    queue: 'asking',
    type: 'task',
    schema: z.unknown(),
    run: (_job, { note }) => answered(note),
  });
  app = await createAppHarness({ handlers: [asking] });
  over = await createClientHarness();
});
afterAll(async () => {
  await app.close();
  await over.close();
});

test('S2.4 a deployed handler asks a person, and its next attempt has the answer', async () => {
  const id = await added(app, 'asking');
  const poke = async (): Promise<unknown> =>
    (await app.call('POST', '/v1/work', { body: { queue: 'asking' } })).body;
  expect(await poke()).toMatchObject({ outcome: 'escalated', code: 'asked_for_human' });
  expect(await jobOf(app, id)).toMatchObject({
    state: 'escalated',
    escalated: { reason: 'asked_for_human', error: { message: QUESTION } },
  });
  const { body } = await app.call('POST', '/v1/escalations/claims', { body: { job_id: id } });
  const { fencing_token } = body['job'] as { readonly fencing_token: string };
  const answer = { fencing_token, note: 'The second.' };
  await app.call('POST', `/v1/escalations/${id}/send-back`, { body: answer });
  expect(await poke()).toMatchObject({ outcome: 'succeeded', job_id: id });
  expect((await jobOf(app, id))['result']).toBe('The second.');
});

test('S2.4 so does the handler of a pull worker', async () => {
  const { client } = over;
  const { id } = await client.enqueue({ queue: 'pulled', type: 'task', payload: null });
  const run = async (): Promise<string> => {
    const stop = new AbortController();
    const ended: string[] = [];
    await work(client, 'pulled', (_job, { note }) => answered(note), {
      signal: stop.signal,
      waitSeconds: 1,
      onEnd: (_job, { outcome }) => {
        ended.push(outcome);
        stop.abort();
      },
    });
    return ended.join();
  };
  expect(await run()).toBe('escalated');
  const { job } = await client.escalations.claim({ job_id: id });
  expect(job).toMatchObject({ reason: 'asked_for_human', error: { message: QUESTION } });
  if (job === null) throw new Error('the job was not free');
  await client.escalations.sendBack(job, 'The first.');
  expect(await run()).toBe('succeeded');
  expect((await client.getJob(id))?.result).toBe('The first.');
});
