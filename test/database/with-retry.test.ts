import { describe, expect, test } from 'vitest';
import {
  FIRST_TRY_TIMEOUT_MS,
  LATER_TRY_TIMEOUT_MS,
  MAX_TRIES,
  RETRY_BUDGET_MS,
} from '../../shared/database/with-retry.ts';
import { fakeDriver, hang, rowsAnswer, sqlErrorAnswer } from './support/fake-answers.ts';

function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('pauses', () => {
  test('grow with each try, with full jitter', async () => {
    const at: number[] = [];
    const driver = fakeDriver(async () => {
      at.push(driver.time.clock.now());
      return new Response('', { status: 500 });
    });
    await driver.time.runUntil(failureOf(driver.sql.query('select 1', [])));
    // Half (the random source is fixed there) of 200, 400, 800, 1600 ms.
    expect(at.map((ms, n) => ms - (at[n - 1] ?? ms))).toEqual([0, 100, 200, 400, 800]);
  });

  test('are short after contention: the other side is done in milliseconds', async () => {
    const driver = fakeDriver(async () => sqlErrorAnswer('40001'));
    const began = driver.time.clock.now();
    await driver.time.runUntil(failureOf(driver.sql.query('select 1', [])));
    expect(driver.time.clock.now() - began).toBeLessThan(250);
  });
});

describe('time', () => {
  test('the first try has the time that a cold start takes, later ones less, and the call an end', async () => {
    const at: number[] = [];
    const driver = fakeDriver(({ init }) => {
      at.push(driver.time.clock.now());
      return hang(init);
    });
    const error = await driver.time.runUntil(failureOf(driver.sql.query('select 1', [])));
    expect(error).toMatchObject({
      code: 'database_unavailable',
      cause: { message: expect.stringContaining(`within ${LATER_TRY_TIMEOUT_MS} ms`) as string },
    });
    expect(at).toHaveLength(2);
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBe(FIRST_TRY_TIMEOUT_MS + 100);
    const totalMs = driver.time.clock.now() - (at[0] ?? 0);
    expect(totalMs).toBeLessThanOrEqual(RETRY_BUDGET_MS + LATER_TRY_TIMEOUT_MS);
  });

  test('a slow first answer is waited for, and its timer ends with it', async () => {
    const driver = fakeDriver(async ({ init }) => {
      await driver.time.timer.sleep(FIRST_TRY_TIMEOUT_MS - 1, init.signal ?? undefined);
      return rowsAnswer([['awake']]);
    });
    const rows = await driver.time.runUntil(driver.sql.query('select 1', []));
    expect(rows).toEqual([{ c1: 'awake' }]);
    expect(driver.requests).toHaveLength(1);
    expect(driver.time.sleeping).toBe(0);
  });

  test('a fetch that ignores its signal cannot hold the caller', async () => {
    const driver = fakeDriver(() => new Promise(() => undefined));
    const error = await driver.time.runUntil(failureOf(driver.sql.query('select 1', [])));
    expect(error).toMatchObject({ code: 'database_unavailable' });
  });

  test('57014 after our own timeout is an unknown outcome, and tried again', async () => {
    const driver = fakeDriver(({ init, number }) => {
      if (number > 1) return Promise.resolve(rowsAnswer([['ok']]));
      return new Promise((resolve) => {
        init.signal?.addEventListener('abort', () => resolve(sqlErrorAnswer('57014')));
      });
    });
    expect(await driver.time.runUntil(driver.sql.query('select 1', []))).toEqual([{ c1: 'ok' }]);
  });
});

describe('the caller’s abort', () => {
  const reason = new Error('the caller has left');

  test('before the start: nothing is sent', async () => {
    const { sql, requests } = fakeDriver(async () => rowsAnswer());
    await expect(sql.query('select 1', [], { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
    expect(requests).toHaveLength(0);
  });

  test('during a try: its own reason, at once, and no other try', async () => {
    const stop = new AbortController();
    const { sql, requests } = fakeDriver(({ init }) => {
      queueMicrotask(() => stop.abort(reason));
      return hang(init);
    });
    await expect(sql.query('select 1', [], { signal: stop.signal })).rejects.toBe(reason);
    expect(requests[0]?.init.signal?.aborted).toBe(true);
    expect(requests).toHaveLength(1);
  });

  test('while the body is read: the same', async () => {
    const stop = new AbortController();
    const { sql } = fakeDriver(async ({ init }) => {
      const body = new ReadableStream({
        start: (controller) => {
          init.signal?.addEventListener('abort', () =>
            controller.error(new DOMException('x', 'AbortError')),
          );
          setTimeout(() => stop.abort(reason), 1);
        },
      });
      return new Response(body);
    });
    await expect(sql.query('select 1', [], { signal: stop.signal })).rejects.toBe(reason);
  });

  test('during the last try: its own reason, and no outage is told', async () => {
    const stop = new AbortController();
    const driver = fakeDriver(async ({ init, number }) => {
      if (number < MAX_TRIES) return new Response('', { status: 500 });
      queueMicrotask(() => stop.abort(reason));
      return hang(init);
    });
    const failed = failureOf(driver.sql.query('select 1', [], { signal: stop.signal }));
    expect(await driver.time.runUntil(failed)).toBe(reason);
    expect(driver.logged).toEqual([]);
  });

  test('between two tries: no other try', async () => {
    const stop = new AbortController();
    const driver = fakeDriver(async () => new Response('', { status: 500 }));
    const pending = failureOf(driver.sql.query('select 1', [], { signal: stop.signal }));
    await expect.poll(() => driver.requests.length, { interval: 1 }).toBe(1);
    await new Promise((resolve) => void setImmediate(resolve));
    stop.abort(reason);
    expect(await pending).toBe(reason);
    expect(driver.requests).toHaveLength(1);
  });
});

describe('case F5: contention', () => {
  test.each(['40001', '40P01', '55P03'])('case F5 %s once succeeds in silence', async (code) => {
    const driver = fakeDriver(async ({ number }) =>
      number === 1 ? sqlErrorAnswer(code) : rowsAnswer([['ok']]),
    );
    expect(await driver.time.runUntil(driver.sql.query('select 1', []))).toEqual([{ c1: 'ok' }]);
    expect(driver.logged).toEqual([]);
  });

  test.each(['40001', '40P01', '55P03'])(
    'case F5 %s five times is a retryable error',
    async (code) => {
      const driver = fakeDriver(async () => sqlErrorAnswer(code));
      const error = await driver.time.runUntil(failureOf(driver.sql.query('select 1', [])));
      expect(error).toMatchObject({
        code: 'database_unavailable',
        sqlState: code,
        retryAfterSeconds: 5,
        cause: { kind: 'retryable' },
      });
      expect(driver.requests).toHaveLength(MAX_TRIES);
      expect(MAX_TRIES).toBe(5);
    },
  );
});
