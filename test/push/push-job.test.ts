import { describe, expect, test } from 'vitest';

import { verifyWebhook } from '../../shared/webhook.ts';
import { PUSH_KEY, SECOND_PUSH_KEY, claimedJob, scriptedPush } from './support/scripted-push.ts';

const never = (): Promise<never> => new Promise(() => undefined);
const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('a push', () => {
  test('B.4 carries the fencing token, the idempotency key, the attempt and the trace', async () => {
    const push = scriptedPush();
    const job = claimedJob(push.time.now(), {
      queue: 'Höoks 📦',
      headers: { traceparent: TRACEPARENT, tracestate: 'a=1', other: 'kept back' },
    });
    expect(await push.start({ job })).toMatchObject({ outcome: 'succeeded' });
    const [request] = push.requests;
    expect(request?.method).toBe('POST');
    expect(request?.redirect).toBe('manual');
    expect(Object.fromEntries(request?.headers ?? [])).toEqual({
      'content-type': 'application/json',
      'user-agent': 'Leasehold',
      'webhook-id': job.jobId,
      'webhook-timestamp': String(push.time.now() / 1000),
      'webhook-signature': expect.stringMatching(/^v1,\S+$/) as string,
      'idempotency-key': job.jobId,
      'leasehold-job-id': job.jobId,
      'leasehold-queue': encodeURIComponent('Höoks 📦'),
      'leasehold-type': 'order.paid',
      'leasehold-schema-version': '2',
      'leasehold-fencing-token': '7',
      'leasehold-attempt': '2',
      'leasehold-lease-seconds': '120',
      traceparent: TRACEPARENT,
      tracestate: 'a=1',
    });
    expect(push.completed).toEqual([
      {
        jobId: job.jobId,
        owner: 'push/hooks',
        fencingToken: '7',
        result: { status: 200, body: 'done' },
      },
    ]);
    expect(push.recorded).toEqual([true]);
  });

  test('is signed with each live key', async () => {
    const push = scriptedPush();
    await push.start({}, undefined, [PUSH_KEY, SECOND_PUSH_KEY]);
    const [request] = push.requests;
    const body = await request?.text();
    for (const key of [PUSH_KEY, SECOND_PUSH_KEY]) {
      const headers = (name: string): string | undefined => request?.headers.get(name) ?? undefined;
      expect(
        verifyWebhook([key], { headers, body: body ?? '', nowMs: push.time.now() }),
      ).toMatchObject({ outcome: 'verified' });
    }
  });

  test('S1.18 the log holds neither payload nor URL nor answer', async () => {
    for (const fetch of [
      async () => new Response('answer-text', { status: 500 }),
      () => Promise.reject(new TypeError('fetch failed https://hooks.example.com/in?key=secret')),
    ]) {
      const push = scriptedPush();
      push.script.fetch = fetch;
      await push.start();
      expect(push.log.text).not.toMatch(/payload-text|secret-in-url|answer-text|example/);
      expect(JSON.stringify(push.failed)).not.toContain('secret');
    }
  });
});

describe('case J1 the guard stands before every send', () => {
  test.each(['http://hooks.example.com/', 'https://10.0.0.1/', 'https://localhost/', 'junk'])(
    '%s gets nothing',
    async (targetUrl) => {
      const push = scriptedPush();
      await push.start({ targetUrl });
      expect(push.requests).toHaveLength(0);
      expect(push.failed).toMatchObject([
        { failureClass: 'transient', error: { code: 'push_target_refused' } },
      ]);
      expect(push.recorded).toEqual([false]);
    },
  );

  test('a name that resolves to a private address gets nothing', async () => {
    const push = scriptedPush();
    const asked: string[] = [];
    push.script.lookup = async (host) => {
      asked.push(host);
      return ['93.184.215.14', '169.254.169.254'];
    };
    await push.start();
    expect(asked).toEqual(['hooks.example.com']);
    expect(push.requests).toHaveLength(0);
    expect(push.failed).toMatchObject([{ error: { code: 'push_target_refused' } }]);
  });

  test('a name that resolves to a public one is sent to', async () => {
    const push = scriptedPush();
    push.script.lookup = async () => ['93.184.215.14'];
    expect(await push.start()).toMatchObject({ outcome: 'succeeded' });
  });

  test('case J1 what was looked up and checked is what is connected to, whatever the name says by then', async () => {
    const push = scriptedPush();
    const answers = [['93.184.215.14', '93.184.215.15'], ['169.254.169.254']];
    push.script.lookup = async () => answers.shift() ?? [];
    const connected: (readonly string[] | undefined)[] = [];
    push.script.fetch = async (_request, options) => {
      connected.push(options?.addresses);
      return new Response('done');
    };
    await push.start();
    expect(connected).toEqual([['93.184.215.14', '93.184.215.15']]);
  });

  test('a host that the deployment lists is not looked up', async () => {
    const push = scriptedPush();
    push.script.lookup = async () => ['10.0.0.1'];
    const policy = { allowHttp: false, allowedHosts: ['hooks.example.com'] };
    expect(await push.start({}, policy)).toMatchObject({ outcome: 'succeeded' });
  });

  test('a resolver that fails or hangs is a failed attempt in bounded time', async () => {
    const failing = scriptedPush();
    failing.script.lookup = () => Promise.reject(new Error('ENOTFOUND'));
    await failing.start();
    expect(failing.failed).toMatchObject([{ error: { code: 'push_unreachable' } }]);
    const hanging = scriptedPush();
    hanging.script.lookup = never;
    const ended = hanging.start();
    await hanging.time.advance(20_000);
    await ended;
    expect(hanging.failed).toMatchObject([{ error: { code: 'push_timeout' } }]);
    expect(hanging.requests).toHaveLength(0);
  });
});

describe('case J7 a receiver that hangs costs one bounded wait', () => {
  test.each([
    ['its own 20 s', 20_000, {}],
    ['the lease', 9_000, { leaseRemainingMs: 10_000 }],
    ['the run deadline', 6_000, { runRemainingMs: 7_000 }],
  ])('%s', async (_name, waits, changes) => {
    const push = scriptedPush();
    push.script.fetch = never;
    const startedAt = push.time.now();
    let endedAt = 0;
    const ended = push
      .start({ job: claimedJob(startedAt, changes) })
      .then(() => (endedAt = push.time.now()));
    await push.time.advance(60_000);
    await ended;
    expect(Math.round((endedAt - startedAt) / 1000)).toBe(Math.round(waits / 1000));
    expect(push.failed).toMatchObject([
      { failureClass: 'transient', error: { code: 'push_timeout' } },
    ]);
    expect(push.recorded).toEqual([false]);
    expect(push.requests[0]?.signal.aborted).toBe(true);
    expect(push.time.sleeping).toBe(0);
  });

  test('the end of the invocation, with time left to report', async () => {
    const push = scriptedPush();
    push.script.fetch = never;
    const startedAt = push.time.now();
    let endedAt = 0;
    const ended = push
      .start({ invocationEndsAt: startedAt + 10_000 })
      .then(() => (endedAt = push.time.now()));
    await push.time.advance(60_000);
    await ended;
    expect(endedAt - startedAt).toBe(8_000);
  });

  test('an answer whose body never ends is the answer all the same', async () => {
    const push = scriptedPush();
    push.script.fetch = async () => new Response(new ReadableStream({ pull: never }));
    const ended = push.start();
    await push.time.advance(20_000);
    expect(await ended).toMatchObject({ outcome: 'succeeded' });
    expect(push.completed).toMatchObject([{ result: { status: 200 } }]);
  });

  test.each([
    [200, true],
    [404, true],
    [429, true],
    [302, true],
    [500, false],
    [503, false],
  ])('%i counts as an answer of a living target: %s', async (status, healthy) => {
    const push = scriptedPush();
    push.script.fetch = async () => new Response(null, { status });
    await push.start();
    expect(push.recorded).toEqual([healthy]);
  });

  test('a target that did not answer is not poked again by the worker that found out', async () => {
    for (const [status, moreDue] of [
      [500, false],
      [429, true],
    ] as const) {
      const push = scriptedPush();
      push.script.fetch = async () => new Response(null, { status });
      push.script.moreDue = true;
      expect(await push.start()).toMatchObject({ outcome: 'retrying', moreDue });
    }
  });

  test('a count that cannot be kept does not undo the report', async () => {
    const push = scriptedPush();
    push.recorded.push = () => {
      throw new Error('the database is away');
    };
    expect(await push.start()).toMatchObject({ outcome: 'succeeded' });
    expect(push.log.events).toContain('push_record_failed');
  });
});

describe('a receiver that takes the job over', () => {
  const accepted = async (): Promise<Response> =>
    new Response(null, { status: 202, headers: { 'leasehold-async': '1' } });

  test("gets the queue's lease, and nothing is reported for it", async () => {
    const push = scriptedPush();
    push.script.fetch = accepted;
    expect(await push.start()).toEqual({ outcome: 'handed_over' });
    expect(push.beats).toMatchObject([
      {
        owner: 'push/hooks',
        fencingToken: '7',
        step: 0,
        progress: 'handed over',
        leaseSeconds: 120,
      },
    ]);
    expect(push.completed).toHaveLength(0);
    expect(push.failed).toHaveLength(0);
    expect(push.recorded).toEqual([true]);
  });

  test('too late has lost it', async () => {
    const push = scriptedPush();
    push.script.fetch = accepted;
    push.script.heartbeat = async () => ({ outcome: 'lease_lost' });
    expect(await push.start()).toEqual({ outcome: 'lease_lost' });
  });

  test('keeps what the claim gave when the extension got no answer', async () => {
    const push = scriptedPush();
    push.script.fetch = accepted;
    push.script.heartbeat = () => Promise.reject(new Error('the database is away'));
    expect(await push.start()).toEqual({ outcome: 'handed_over' });
  });
});
