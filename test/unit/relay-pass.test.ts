/** One pass of the relay over a scripted database and a scripted receiver, by a clock that a test moves. */
import { describe, expect, test } from 'vitest';

import { settle } from './support/manual-clock.ts';
import { scriptedRelay } from './support/scripted-relay.ts';
import { deferred } from './support/scripted-run.ts';

const failed = { outcome: 'failed', error: { code: 'x', message: 'X.' } } as const;

describe('the relay publishes', () => {
  test('one after another in an aggregate, aggregates side by side, five at most', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const relay = scriptedRelay([names.flatMap((name) => [`${name}/1`, `${name}/2`])]);
    const inFlight = new Set<string>();
    let most = 0;
    relay.publish = async ({ aggregateId }) => {
      expect(inFlight).not.toContain(aggregateId);
      inFlight.add(aggregateId);
      most = Math.max(most, inFlight.size);
      await relay.time.timer.sleep(10);
      inFlight.delete(aggregateId);
      return { outcome: 'published' };
    };
    const pass = relay.start();
    await relay.time.advance(100);
    expect(await pass).toMatchObject({ batches: 1, published: 14, ended: 'empty' });
    expect(most).toBe(5);
    for (const name of names) {
      expect(relay.sent.filter((id) => id.startsWith(name))).toEqual([`${name}/1`, `${name}/2`]);
    }
    expect(relay.closed).toBe(1);
  });

  test('nothing behind an event of its aggregate that did not go out; what was left out stays', async () => {
    const relay = scriptedRelay([['a/1', 'b/1', 'a/2', 'b/2', 'a/3']]);
    relay.publish = async ({ id }) => (id === 'a/2' ? failed : { outcome: 'published' });
    expect(await relay.start()).toMatchObject({ published: 3, failed: 1 });
    expect(relay.sent).not.toContain('a/3');
    expect(relay.settlements[0]?.results.map(({ id }) => id).toSorted()).toEqual([
      'a/1',
      'a/2',
      'b/1',
      'b/2',
    ]);
  });

  test('batch after batch under one lease and one claim id while there is more', async () => {
    const relay = scriptedRelay([['a/1'], ['a/2'], ['a/3']]);
    expect(await relay.start()).toMatchObject({ batches: 3, published: 3, ended: 'empty' });
    expect(relay.settlements.map(({ more }) => more)).toEqual([true, true, false]);
    const claims = relay.claims.map(({ claimId }) => claimId);
    expect(new Set(claims.slice(0, 3)).size).toBe(1);
    expect(claims[3]).not.toBe(claims[0]);
  });

  test('a batch for five seconds at most, so that a crash repeats little', async () => {
    const relay = scriptedRelay([Array.from({ length: 100 }, (_, i) => `a/${i + 1}`)]);
    relay.publish = async () => {
      await relay.time.timer.sleep(1000);
      return { outcome: 'published' };
    };
    const pass = relay.start();
    await relay.time.advance(5000);
    expect(await pass).toMatchObject({ published: 5 });
  });
});

describe('a publisher that misbehaves', () => {
  test('throws: the event failed, and nothing of the text is kept', async () => {
    const relay = scriptedRelay([['a/1', 'b/1']]);
    relay.publish = async ({ id }) => {
      if (id === 'a/1') throw new TypeError('https://user:hunter2@host');
      return { outcome: 'published' };
    };
    expect(await relay.start()).toMatchObject({ published: 1, failed: 1 });
    expect(JSON.stringify([relay.settlements, relay.log.lines])).not.toContain('hunter2');
    expect(JSON.stringify(relay.settlements)).toContain('publisher_failed');
  });

  test('never answers: given up after 15 seconds, as an outage', async () => {
    const relay = scriptedRelay([['a/1']]);
    relay.publish = () => deferred<never>().promise;
    const pass = relay.start();
    await relay.time.advance(15_000);
    expect(await pass).toMatchObject({ failed: 1 });
    expect(relay.settlements[0]?.results).toMatchObject([
      { id: 'a/1', outcome: 'failed', error: { code: 'timeout' }, away: true },
    ]);
  });

  test('a receiver that is away ends the pass after five events, and the lease', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `${i}/1`);
    const relay = scriptedRelay([names, ['more/1']]);
    relay.publish = async () => ({ ...failed, away: true });
    expect(await relay.start()).toMatchObject({ batches: 1, ended: 'receiver_away' });
    expect(relay.sent.length).toBeLessThan(10);
    expect(relay.settlements).toMatchObject([{ more: false }]);
  });

  test('one that answers now and then is not away', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `${i}/1`);
    const relay = scriptedRelay([names]);
    relay.publish = async ({ id }) =>
      id.startsWith('3') ? { outcome: 'published' } : { ...failed, away: true };
    expect((await relay.start()).ended).not.toBe('time_up');
    expect(relay.sent.length).toBeGreaterThan(5);
  });
});

describe('time and lease', () => {
  test('the lease is renewed at each third while a batch is under way', async () => {
    const relay = scriptedRelay([['a/1']]);
    relay.publish = async () => {
      await relay.time.timer.sleep(14_000);
      return { outcome: 'published' };
    };
    const pass = relay.start();
    await relay.time.advance(14_000);
    expect(await pass).toMatchObject({ published: 1 });
    expect(relay.renewals).toHaveLength(1);
  });

  test('a renewal that is answered with lease_lost stops at once, and an answer that came is told', async () => {
    const relay = scriptedRelay([['a/1', 'b/1', 'b/2']]);
    const aborted: string[] = [];
    relay.renewAs = () => 'lease_lost';
    relay.settleAs = 'lease_lost';
    relay.publish = async ({ id }, signal) => {
      signal.addEventListener('abort', () => aborted.push(id));
      if (id === 'a/1') return { outcome: 'published' };
      return await deferred<never>().promise;
    };
    const pass = relay.start();
    await relay.time.advance(10_000);
    expect(await pass).toMatchObject({ published: 0, ended: 'lease_lost' });
    expect(aborted).toContain('b/1');
    expect(relay.sent).toEqual(['a/1', 'b/1']);
    expect(relay.settlements[0]?.results).toEqual([{ id: 'a/1', outcome: 'published' }]);
  });

  test('no lease outlives the invocation, and publishing ends in time to mark', async () => {
    const relay = scriptedRelay([['a/1', 'a/2'], ['a/3']]);
    relay.publish = async ({ id }) => {
      if (id === 'a/2') return await deferred<never>().promise;
      return { outcome: 'published' };
    };
    const pass = relay.start({ invocationMs: 6000 });
    await relay.time.advance(4000);
    expect(await pass).toMatchObject({ published: 1, failed: 0, ended: 'time_up' });
    expect(relay.claims[0]?.leaseSeconds).toBe(6);
    // Nobody knows of the second: it goes out again, and that is no failure of its own.
    expect(relay.settlements).toEqual([
      { results: [{ id: 'a/1', outcome: 'published' }], more: false },
    ]);
  });

  test('a pass takes no further batch after twenty seconds', async () => {
    const batches = Array.from({ length: 100 }, (_, i) => [`a/${i + 1}`]);
    const relay = scriptedRelay(batches);
    relay.publish = async () => {
      await relay.time.timer.sleep(1000);
      return { outcome: 'published' };
    };
    const pass = relay.start();
    await relay.time.advance(25_000);
    expect(await pass).toMatchObject({ published: 20, ended: 'time_up' });
    expect(relay.settlements.at(-1)?.more).toBe(false);
  });

  test('the caller’s signal ends it; what was answered is marked', async () => {
    const relay = scriptedRelay([['a/1', 'a/2', 'a/3']]);
    const stop = new AbortController();
    relay.publish = async ({ id }) => {
      if (id === 'a/2') return await deferred<never>().promise;
      return { outcome: 'published' };
    };
    const pass = relay.start({ signal: stop.signal });
    await settle();
    stop.abort();
    expect(await pass).toMatchObject({ published: 1, ended: 'time_up' });
    expect(relay.sent).toEqual(['a/1', 'a/2']);
    expect(relay.time.sleeping).toBe(0);
  });

  test('nothing to do is one question, and no line in the log', async () => {
    const relay = scriptedRelay([]);
    expect(await relay.start()).toEqual({
      batches: 0,
      published: 0,
      failed: 0,
      quarantined: 0,
      ended: 'empty',
    });
    expect(relay.claims).toHaveLength(1);
    expect(relay.log.lines).toEqual([]);
  });
});
