/** What a receiver that took a job over leaves behind when it ends it: the next push has to come from somewhere. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { pushOwner } from '../../functions/push-once.ts';
import { signToken } from '../routes/support/app-harness.ts';
import { createPushApp } from './support/push-app.ts';
import type { PushApp } from './support/push-app.ts';

let push: PushApp;
beforeAll(async () => {
  push = await createPushApp();
});
afterAll(() => push.close());
beforeEach(async () => {
  push.receiver.received.length = 0;
  await push.receiver.answer({ status: 202, headers: { 'leasehold-async': '1' } });
});

/** The receiver takes a job over and ends it so. */
async function ended(
  queue: string,
  verb: string,
  fields: object,
  meanwhile?: (id: string) => Promise<unknown>,
): Promise<Readonly<Record<string, unknown>>> {
  await push.configure(queue, '/in', { lease_seconds: 300 });
  const id = await push.enqueue(queue, '{}');
  await push.work(queue);
  await meanwhile?.(id);
  await push.app.backgroundDone();
  push.app.wakes.length = 0;
  const token = await signToken('work', { subject: pushOwner(queue) });
  const request = await push.app.request('POST', `/v1/leases/${id}/${verb}`, {
    scope: null,
    body: {
      fencing_token: push.receiver.received[0]?.headers['leasehold-fencing-token'],
      ...fields,
    },
    headers: { authorization: `Bearer ${token}` },
  });
  const { body } = await push.app.callApp({}, request);
  await push.app.backgroundDone();
  return body;
}

function asksForADrain(): boolean {
  return push.app.wakes.some((at) => at <= Date.now());
}

test.each(['own', 'another'])(
  'S1.16 a completion that finds no next job in its %s queue asks for a drain',
  async (which) => {
    const claimNext = { queue: which === 'own' ? 'empty own' : 'another' };
    const end = await ended(`empty ${which}`, 'complete', { claim_next: claimNext });
    expect(end).toMatchObject({ outcome: 'succeeded', next: null });
    expect(asksForADrain()).toBe(true);
  },
);

test('a completion that takes the next job of its queue asks for the end of its lease alone', async () => {
  const end = await ended('goes on', 'complete', { claim_next: { queue: 'goes on' } }, () =>
    push.enqueue('goes on', '{}'),
  );
  expect(end).toMatchObject({ outcome: 'succeeded', next: { queue: 'goes on' } });
  expect(push.app.wakes).toHaveLength(1);
  expect(asksForADrain()).toBe(false);
});

test('S1.16 a job that was called off and is given back asks for a drain: its place is free', async () => {
  const end = await ended('called off', 'snooze', { delay_seconds: 60 }, (id) =>
    push.app.call('POST', `/v1/jobs/${id}/cancel`, { body: {} }),
  );
  expect(end).toMatchObject({ outcome: 'cancelled' });
  expect(asksForADrain()).toBe(true);
});
