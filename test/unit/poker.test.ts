import { expect, test } from 'vitest';

import { createNoPoker, createPoker } from '../../functions/poker.ts';
import { POKE_TIMEOUT_MS } from '../../shared/limits.ts';
import type { Poker } from '../../shared/ports.ts';
import { verifyWebhook } from '../../shared/webhook.ts';
import { ManualClock } from './support/manual-clock.ts';
import { RecordingLog } from './support/recording-log.ts';

const KEY = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const POKE = { queue: '🐘 "quoted"', depth: 3 };

const time = new ManualClock();

function pokerOver(
  fetch: (request: Request) => Promise<Response>,
  log = new RecordingLog(),
): Poker {
  return createPoker({
    baseUrl: new URL('https://jobs.example.com/ignored'),
    key: KEY,
    fetch,
    clock: time,
    timer: time.timer,
    ids: { uuidv7: () => '0193a1b2-c3d4-7e5f-8a6b-0123456789ab' },
    log,
  });
}

test('a poke is a signed POST of queue and depth to /v1/work', async () => {
  const log = new RecordingLog();
  let sent: Request | undefined;
  await pokerOver(async (request) => {
    sent = request;
    return Response.json({ outcome: 'empty' });
  }, log).send(POKE);
  expect(sent?.method).toBe('POST');
  expect(sent?.url).toBe('https://jobs.example.com/v1/work');
  expect(sent?.redirect).toBe('manual');
  const body = await sent?.text();
  expect(JSON.parse(body ?? '')).toEqual(POKE);
  const outcome = verifyWebhook([KEY], {
    headers: (name) => sent?.headers.get(name) ?? undefined,
    body: body ?? '',
    nowMs: time.now(),
  });
  expect(outcome.outcome).toBe('verified');
  expect(log.lines).toEqual([]);
});

test.each<[string, () => Promise<Response>, object]>([
  [
    'refused',
    () => Promise.resolve(new Response('no', { status: 401 })),
    { reason: 'status', status: 401 },
  ],
  ['redirected', () => Promise.resolve(new Response(null, { status: 302 })), { status: 302 }],
  ['failed', () => Promise.reject(new Error('secret host name')), { reason: 'error' }],
])(
  'S1.16 a poke that is %s is a line in the log and nothing else',
  async (_name, answer, fields) => {
    const log = new RecordingLog();
    expect(await pokerOver(answer, log).send(POKE)).toBe('failed');
    expect(log.lines).toMatchObject([
      { level: 'warn', event: 'poke_failed', fields: { queue: POKE.queue, depth: 3, ...fields } },
    ]);
    expect(log.text).not.toContain('secret host name');
  },
);

test('a poke leaves no answer unread: it would hold one of six connections', async () => {
  let cancelled = false;
  const body = new ReadableStream({
    cancel: () => {
      cancelled = true;
    },
  });
  const sent = pokerOver(() => Promise.resolve(new Response(body)));
  expect(await sent.send(POKE)).toBe('taken');
  expect(cancelled).toBe(true);
});

test('a poke without an answer is given up', async () => {
  const log = new RecordingLog();
  let stopped = false;
  const sent = pokerOver((request) => {
    request.signal.addEventListener('abort', () => {
      stopped = true;
    });
    return new Promise(() => undefined);
  }, log).send(POKE);
  await time.advance(POKE_TIMEOUT_MS);
  await sent;
  expect(stopped).toBe(true);
  expect(log.lines).toMatchObject([{ fields: { reason: 'timeout' } }]);
});

test('without a way to poke, the log says so', async () => {
  const log = new RecordingLog();
  await createNoPoker(log).send(POKE);
  expect(log.events).toEqual(['poke_not_configured']);
});

test.each([
  [{ outcome: 'succeeded' }, 'taken'],
  [{ outcome: 'retrying' }, 'taken'],
  [{ outcome: 'empty' }, 'idle'],
  [{ outcome: 'no_handler' }, 'idle'],
  [{ outcome: 'push_not_configured' }, 'idle'],
  [{ outcome: 'no_time' }, 'idle'],
  ['no object', 'taken'],
  [{ outcome: 'empty', padding: ' '.repeat(10_000) }, 'taken'],
])('the answer %j means %s', async (answer, outcome) => {
  expect(await pokerOver(async () => Response.json(answer)).send(POKE)).toBe(outcome);
});
