import { describe, expect, test } from 'vitest';
import { LeaseholdError } from '../../shared/errors.ts';
import { fakeDriver, rowsAnswer, sqlErrorAnswer, type FakeDriver } from './support/fake-answers.ts';

const OUTAGE_MS = 20_000;
const CALLERS = 8;

/** A caller that comes back as it was told to, until it gets its rows. */
async function patientCaller({ sql, time }: FakeDriver): Promise<number> {
  for (let refusals = 0; ; refusals += 1) {
    try {
      await sql.query('select 1', []);
      return refusals;
    } catch (error) {
      if (!(error instanceof LeaseholdError) || error.code !== 'database_unavailable') throw error;
      await time.timer.sleep((error.retryAfterSeconds ?? 0) * 1000);
    }
  }
}

/** A caller that does not listen, as often as it can: the next call at the end of the last. */
async function rudeCaller({ sql }: FakeDriver): Promise<void> {
  for (;;) {
    const done = await sql.query('select 1', []).then(
      () => true,
      () => false,
    );
    if (done) return;
  }
}

const OUTAGES = [
  [
    '25006',
    async () => sqlErrorAnswer('25006', 'cannot execute UPDATE in a read-only transaction'),
  ],
  ['57P03', async () => sqlErrorAnswer('57P03', 'the database system is starting up')],
  ['a 500 for 57P03', async () => new Response('{"code":"57P03"}', { status: 500 })],
  ['ECONNREFUSED', () => Promise.reject(new TypeError('fetch failed'))],
] as const satisfies readonly (readonly [string, () => Promise<Response>])[];

describe('R26 twenty seconds without a database', () => {
  function outage(fault: () => Promise<Response>): FakeDriver {
    let until: number | undefined;
    const driver = fakeDriver(() => {
      until ??= driver.time.clock.now() + OUTAGE_MS;
      return driver.time.clock.now() < until ? fault() : Promise.resolve(rowsAnswer());
    });
    return driver;
  }

  test.each(OUTAGES)(
    'R26 %s: backoff, few lines, recovery without a restart',
    async (_name, fault) => {
      const driver = outage(fault);
      const began = driver.time.clock.now();
      const callers = Array.from({ length: CALLERS }, () => patientCaller(driver));
      const refusals = await driver.time.runUntil(Promise.all(callers));
      expect(Math.min(...refusals)).toBeGreaterThan(0);
      expect(driver.time.clock.now() - began).toBeLessThan(OUTAGE_MS + 10_000);
      // Thousands without a pause.
      expect(driver.requests.length).toBeLessThan(CALLERS * 25);
      const events = driver.logged.map(({ event }) => event);
      expect(events.filter((event) => event === 'database_unavailable').length).toBeLessThanOrEqual(
        3,
      );
      expect(events.at(-1)).toBe('database_recovered');
      expect(events.length).toBeLessThanOrEqual(4);
    },
  );

  test('R26 even a caller without manners makes few requests and few lines', async () => {
    const driver = outage(OUTAGES[0][1]);
    await driver.time.runUntil(
      Promise.all(Array.from({ length: CALLERS }, () => rudeCaller(driver))),
    );
    expect(driver.logged.length).toBeLessThanOrEqual(4);
    expect(driver.logged[0]).toMatchObject({
      event: 'database_unavailable',
      fields: { sql_state: '25006', tries: 5, failed_calls: 1 },
    });
    expect(driver.requests.length).toBeLessThan(CALLERS * 100);
  });

  test('R26 a database that comes and goes cannot flood the log', async () => {
    const driver = fakeDriver(async ({ number }) =>
      number % 6 === 0 ? rowsAnswer() : new Response('', { status: 500 }),
    );
    const calls = async (): Promise<void> => {
      for (let call = 0; call < 200; call += 1)
        await driver.sql.query('select 1', []).catch(() => undefined);
    };
    const began = driver.time.clock.now();
    await driver.time.runUntil(calls());
    const lines = driver.logged.filter(({ event }) => event === 'database_unavailable').length;
    expect(lines).toBeLessThanOrEqual((driver.time.clock.now() - began) / 10_000 + 1);
  });

  test('a definite error is an answer: the outage is over', async () => {
    const driver = fakeDriver(async ({ number }) =>
      number <= 5 ? new Response('', { status: 500 }) : sqlErrorAnswer('23505'),
    );
    await expect(driver.time.runUntil(driver.sql.query('select 1', []))).rejects.toThrow(
      'Try again',
    );
    await expect(driver.time.runUntil(driver.sql.query('select 1', []))).rejects.toThrow('23505');
    expect(driver.logged.map(({ event }) => event)).toEqual([
      'database_unavailable',
      'database_recovered',
    ]);
  });
});
