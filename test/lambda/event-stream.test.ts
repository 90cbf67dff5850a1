/** The live feed on Lambda: a function URL that streams follows the log; an HTTP API sends an answer whole, and so in batches. */
import { afterAll, beforeAll, expect, test } from 'vitest';

import { FEED_PACE_MS } from '../../shared/limits.ts';
import { view } from '../feed/support/viewer.ts';
import { apiGatewayEvent } from './support/http-events.ts';
import type { HttpCall } from './support/http-events.ts';
import { call, createLambdaStack, responseTo } from './support/stack.ts';
import type { LambdaStack } from './support/stack.ts';

let stack: LambdaStack;
beforeAll(async () => {
  stack = await createLambdaStack({ env: { INSERT_POKES: 'off' }, timeoutMs: { api: 8000 } });
});
afterAll(() => stack.close());

const viaGateway = async (request: HttpCall): Promise<Response> =>
  responseTo(await stack.worker.invoke(apiGatewayEvent(request, 'live')));

function following(lastEventId?: string): HttpCall {
  return {
    method: 'GET',
    path: '/v1/events/stream',
    headers: {
      authorization: `Bearer ${stack.token}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
  };
}

async function enqueue(): Promise<string> {
  const response = await viaGateway({
    method: 'POST',
    path: '/v1/jobs',
    headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ queue: 'q', type: 't', payload: 1 }),
  });
  return ((await response.json()) as { id: string }).id;
}

test('S2.7 an HTTP API brings what was missed since Last-Event-ID, and when to come back', async () => {
  const ask = async (lastEventId?: string) => {
    const { body } = await viaGateway(following(lastEventId));
    const viewer = view(body as ReadableStream<Uint8Array>, { lastEventId });
    await viewer.ended();
    expect(viewer.messages.at(-1)).toMatchObject({ event: 'hand_over' });
    expect(viewer.retryMs()).toBe(FEED_PACE_MS);
    return viewer;
  };
  const first = await ask();
  const missed = [await enqueue(), await enqueue()];
  const next = await ask(first.lastEventId());
  expect(next.events.map((event) => event.job_id)).toEqual(missed);
});

test('S2.7 a function URL that streams shows what another process changes, and ends before its time is up', async () => {
  let isOver = false;
  const stream = call(stack.api, following()).finally(() => {
    isOver = true;
  });
  // The models of AWS give a stream when it has ended: jobs are added while it is open.
  const added: string[] = [];
  while (!isOver) added.push(await enqueue());
  const { body, headers, status } = await stream;
  expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const viewer = view(body as ReadableStream<Uint8Array>);
  await viewer.ended();
  expect(viewer.events.length).toBeGreaterThan(0);
  for (const event of viewer.events) expect(added).toContain(event.job_id);
  expect(viewer.messages.at(-1)).toMatchObject({ event: 'hand_over', data: { reason: 'time' } });
});
