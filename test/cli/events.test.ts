import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { LogEvent } from '../../shared/queue/log-event.ts';
import type { LogEventPageResponse } from '../../shared/schemas/log-response.ts';
import { createCliHarness } from './support/cli-harness.ts';
import type { CliHarness, Ran } from './support/cli-harness.ts';

let cli: CliHarness;
beforeAll(async () => {
  cli = await createCliHarness();
});
afterAll(() => cli.close());

const add = async (queue: string): Promise<string> =>
  (await cli.client.enqueue({ queue, type: 'try', payload: 1 })).id;

/** A tail at work, and its lines as they come. */
interface Tail {
  readonly lines: string[];
  /** Resolves once it has printed so many lines. */
  printed(count: number): Promise<void>;
  /** As Ctrl-C does. */
  stop(): void;
  readonly ended: Promise<Ran>;
}

/** Where the log ends, once all of it is settled: a transaction of another test may hold it back. */
async function end(): Promise<string | undefined> {
  for (;;) {
    const page = await cli.json<LogEventPageResponse>(['events', '--newest', '--limit', '1']);
    const [newest] = page.events;
    if (newest?.cursor !== null) return newest?.cursor;
  }
}

/** Follows from where the log ends now, so that it does not matter when the stream is there. */
async function tail(...args: readonly string[]): Promise<Tail> {
  const last = await end();
  const since = last === undefined ? [] : ['--since', last];
  const lines: string[] = [];
  const waiting: { readonly count: number; readonly done: () => void }[] = [];
  const stop = new AbortController();
  const ended = cli.run(['tail', ...since, ...args], {
    signal: stop.signal,
    onOut: (text) => {
      lines.push(text);
      for (const one of waiting) if (lines.length >= one.count) one.done();
    },
  });
  return {
    lines,
    printed: (count) =>
      new Promise((done) => {
        if (lines.length >= count) done();
        else waiting.push({ count, done });
      }),
    stop: () => stop.abort(),
    ended,
  };
}

describe('tail', () => {
  test('shows each event as it happens, and ends when it is told to', async () => {
    await add('before');
    const following = await tail();
    const id = await add('live');
    await following.printed(1);
    expect(following.lines[0]).toMatch(
      new RegExp(`^\\S+Z  created +live  try  ${id}  by cli-tests`),
    );
    await cli.client.cancel(id);
    await following.printed(2);
    expect(following.lines[1]).toMatch(/Z {2}cancelled /);
    following.stop();
    expect(await following.ended).toMatchObject({ code: 0 });
  });

  test('misses nothing and repeats nothing when the stream is cut', async () => {
    const following = await tail('--json', '--queue', 'cut');
    const ids = [await add('cut')];
    await following.printed(1);
    cli.cut();
    ids.push(await add('cut'), await add('cut'));
    await following.printed(3);
    cli.cut();
    ids.push(await add('cut'));
    await following.printed(4);
    following.stop();
    await following.ended;
    const events = following.lines.map((line) => JSON.parse(line) as LogEvent);
    expect(events.map(({ job_id }) => job_id)).toEqual(ids);
    const streams = cli.requests.filter((line) => line.endsWith('/v1/events/stream?queue=cut'));
    expect(streams.length).toBeGreaterThan(2);
  });

  test('filters, and ends after so many', async () => {
    const following = await tail('--type', 'cancelled', '--actor', 'cli-tests', '--limit', '2');
    const ids: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      ids.push(await add('counted'));
      await cli.client.cancel(ids[i] ?? '');
    }
    const { code, out } = await following.ended;
    expect(code).toBe(0);
    expect(out.match(/cancelled .*/g)).toHaveLength(2);
    const one = await tail('--job', ids[0] ?? '', '--for', '1');
    await add('counted');
    expect(await one.ended).toMatchObject({ code: 0, out: '' });
  });

  test('a token that may not look is refused', async () => {
    const ran = await cli.run(['tail'], { scope: 'enqueue' });
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toContain('code forbidden');
  });
});

describe('history', () => {
  test('tells all that happened to a job', async () => {
    const id = await add('told');
    const claimed = await cli.client.claim('told');
    if (claimed.outcome === 'empty') throw new Error('nothing to claim');
    await cli.client.complete(claimed.job);
    const { code, out } = await cli.run(['history', id]);
    expect(code).toBe(0);
    const [title, ...lines] = out.trimEnd().split('\n');
    expect(title).toMatch(/^AT +EVENT +BY +TOKEN +DETAILS$/);
    expect(lines.map((line) => line.split(/\s+/)[1])).toEqual(['created', 'claimed', 'completed']);
    const { events } = await cli.json<{ readonly events: LogEvent[] }>(['history', id]);
    expect(events.map(({ type }) => type)).toEqual(['created', 'claimed', 'completed']);
    expect(await cli.run(['history', uuidv7()])).toMatchObject({ code: 3 });
  });
});

describe('events', () => {
  test('read the log from a cursor on, and by queue, actor and type', async () => {
    await end();
    const first = await cli.json<LogEventPageResponse>(['events', '--all']);
    const id = await add('read on');
    await cli.client.cancel(id);
    const args = ['events', '--cursor', first.next_cursor ?? ''];
    await end();
    const rest = await cli.json<LogEventPageResponse>(args);
    expect(rest.events.map(({ type }) => type)).toEqual(['created', 'cancelled']);
    const few = await cli.run(['events', '--queue', 'read on', '--actor', 'cli-tests']);
    expect(few.out.trimEnd().split('\n')).toHaveLength(3);
    const one = ['events', '--queue', 'read on', '--type', 'cancelled'];
    expect((await cli.json<LogEventPageResponse>(one)).events).toHaveLength(1);
    const newest = await cli.json<LogEventPageResponse>(['events', '--newest', '--limit', '2']);
    expect(newest.events.map(({ id: at }) => at)).toEqual(
      rest.events.map(({ id: at }) => at).toReversed(),
    );
    const older = ['events', '--newest', '--all', '--cursor', newest.next_cursor ?? ''];
    const before = await cli.json<LogEventPageResponse>(older);
    expect(before.events.at(-1)).toEqual(first.events[0]);
    const limited = await cli.run(['events', '--limit', '1']);
    expect(limited.err).toMatch(/^There are more: --all, or --cursor \d+_j\d+\n$/);
  });
});
