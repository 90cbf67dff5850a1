import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { redrive } from '../../shared/queue/redrive.ts';
import { createPushApp } from './support/push-app.ts';
import type { PushApp } from './support/push-app.ts';
import type { Received } from './support/receiver.ts';
import { PUSH_KEY, SECOND_PUSH_KEY } from './support/scripted-push.ts';

const FIRST = 'verified by the first key';
const TWO_HOURS_MS = 2 * 60 * 60 * 1000;

let push: PushApp;
beforeAll(async () => {
  push = await createPushApp({ receiverKeys: [PUSH_KEY, SECOND_PUSH_KEY] });
});
afterAll(() => push.close());
beforeEach(async () => {
  push.receiver.received.length = 0;
  await push.receiver.answer({ status: 200 });
});

/** By the independent verifier, over the raw bytes. */
function verdictOf(received: Received | undefined): string {
  return received?.verdicts[0] === 'verified' ? FIRST : (received?.verdicts[0] ?? 'nothing came');
}

function bodyOf(received: Received | undefined): string {
  return Buffer.from(received?.body ?? '', 'base64').toString('utf8');
}

describe('case J5 the bytes that are signed are the bytes that are sent', () => {
  const PAYLOADS = [
    ['emoji and other scripts', '{"text":"😀 naïve Ω 漢字 \\ud83d\\ude00"}'],
    ['escaped slashes', '{"url":"https:\\/\\/example.com\\/a"}'],
    ['1.0 and large numbers', '{"a":1.0,"b":9007199254740991,"c":1e21,"d":-0.5}'],
    ['odd key order', '{"zebra":1,"b":2,"10":3,"2":4,"a":{"y":1,"x":2}}'],
    ['white space and a trailing newline', ' { "a" : [ 1 , 2 ] }\n'],
    ['control characters and quotes', '{"a":"\\t\\n\\"\\u2028\\u001f"}'],
    ['a key named __proto__', '{"__proto__":{"a":1},"constructor":2}'],
    ['text', '"just text"'],
    ['null', 'null'],
    ['an empty list', '[]'],
  ] as const;

  test.each(PAYLOADS)('%s', async (name, payload) => {
    const queue = `bytes ${name}`;
    await push.configure(queue, '/in');
    const id = await push.enqueue(queue, payload);
    expect(await push.work(queue)).toMatchObject({ outcome: 'succeeded', job_id: id });
    const [received] = push.receiver.received;
    expect(verdictOf(received)).toBe(FIRST);
    expect(JSON.parse(bodyOf(received))).toEqual(JSON.parse(payload));
  });

  test('again on retry 5 and after a redrive, under one message id', async () => {
    const queue = 'again';
    await push.configure(queue, '/in', { backoff_base_ms: 0, backoff_cap_ms: 0 });
    const id = await push.enqueue(queue, '{"b":"😀","a":1.0}', { max_attempts: 6 });
    await push.receiver.answer({ status: 503 });
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      await push.makeDue(queue);
      expect(await push.work(queue)).toMatchObject({ outcome: 'retrying', attempt });
    }
    await push.receiver.answer({ status: 410 });
    await push.makeDue(queue);
    expect(await push.work(queue)).toMatchObject({ outcome: 'dead', code: 'http_410' });
    await redrive(push.app.database.sql, { jobIds: [id], reason: 'repaired', actor: 'maria' });
    await push.receiver.answer({ status: 200 });
    expect(await push.work(queue)).toMatchObject({ outcome: 'succeeded' });

    const { received } = push.receiver;
    expect(received.map(verdictOf)).toEqual(Array.from({ length: 7 }, () => FIRST));
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    for (const header of ['webhook-id', 'idempotency-key', 'leasehold-job-id']) {
      expect(new Set(received.map(({ headers }) => headers[header]))).toEqual(new Set([id]));
    }
  });

  test('the verifier is no friend: one changed byte, and it refuses', async () => {
    await push.configure('tampered', '/in');
    await push.enqueue('tampered', '{"a":1}');
    await push.work('tampered', {
      outbound: {
        fetch: async (request) => {
          const { url, method, headers } = request;
          return await fetch(url, { method, headers, body: `${await request.text()}\n` });
        },
      },
    });
    expect(verdictOf(push.receiver.received[0])).toBe('No matching signature found');
  });
});

test('B.4 the fencing token travels with each push, and grows', async () => {
  await push.configure('fenced', '/in', { backoff_base_ms: 0, backoff_cap_ms: 0 });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await push.enqueue('fenced', '{}', { headers: { traceparent } });
  await push.receiver.answer({ status: 503 });
  await push.work('fenced');
  await push.makeDue('fenced');
  await push.work('fenced');
  expect(push.receiver.received.map(({ headers }) => headers)).toMatchObject([
    { 'leasehold-fencing-token': '1', 'leasehold-attempt': '1', traceparent },
    { 'leasehold-fencing-token': '2', 'leasehold-attempt': '2', traceparent },
  ]);
});

test('S1.12 the idempotency key is the same on every attempt', async () => {
  await push.configure('keyed', '/in', { backoff_base_ms: 0, backoff_cap_ms: 0 });
  const id = await push.enqueue('keyed', '{}');
  await push.receiver.answer({ status: 503 });
  await push.work('keyed');
  await push.makeDue('keyed');
  await push.work('keyed');
  expect(push.receiver.received.map(({ headers }) => headers['idempotency-key'])).toEqual([id, id]);
});

test('case R17 a retry after two hours has a fresh timestamp and signature, and the same id', async () => {
  await push.configure('late', '/in', { backoff_base_ms: 0, backoff_cap_ms: 0 });
  const id = await push.enqueue('late', '{"order":7}');
  await push.receiver.answer({ status: 503 });
  const twoHoursAgo = { now: () => Date.now() - TWO_HOURS_MS };
  await push.work('late', { clock: twoHoursAgo });
  await push.makeDue('late');
  await push.work('late');
  const [first, second] = push.receiver.received;
  // Sent as it was signed then, the retry would be refused.
  expect(verdictOf(first)).toBe('Message timestamp too old');
  expect(verdictOf(second)).toBe(FIRST);
  expect([first, second].map((one) => one?.headers['webhook-id'])).toEqual([id, id]);
  const at = (one: Received | undefined): number => Number(one?.headers['webhook-timestamp']);
  expect(at(second) - at(first)).toBeGreaterThanOrEqual(7200);
});

test('while keys are changed both sign, so a receiver with either accepts', async () => {
  const rotating = await createPushApp({ keys: [SECOND_PUSH_KEY, PUSH_KEY] });
  try {
    await rotating.configure('rotating', '/in');
    await rotating.enqueue('rotating', '{"a":1}');
    await rotating.work('rotating');
    expect(rotating.receiver.received[0]?.verdicts).toEqual(['verified', 'verified']);
  } finally {
    await rotating.close();
  }
});

test('a receiver that knows another key refuses', async () => {
  await push.configure('strangers', '/in');
  await push.enqueue('strangers', '{}');
  await push.work('strangers');
  expect(push.receiver.received[0]?.verdicts).toEqual(['verified', 'No matching signature found']);
});
