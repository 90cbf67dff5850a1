import { describe, expect, test } from 'vitest';
import {
  followStream,
  pause,
  type StreamListener,
  type StreamPorts,
} from '../../functions/board/client/live-stream.ts';

describe('following the stream', () => {
  interface World {
    readonly asked: (string | undefined)[];
    readonly told: string[];
    readonly waits: number[];
  }

  /** Each answer is one connection; after the last one the page is closed. */
  async function follow(answers: readonly (Response | Error)[]): Promise<World> {
    const world: World = { asked: [], told: [], waits: [] };
    const open = new AbortController();
    const left = [...answers];
    const ports: StreamPorts = {
      open: (lastEventId) => {
        world.asked.push(lastEventId);
        const next = left.shift();
        if (left.length === 0) queueMicrotask(() => undefined);
        if (next instanceof Response) return Promise.resolve(next);
        return Promise.reject(next ?? new Error('nothing is left'));
      },
      wait: (ms, signal) => {
        if (ms === 45_000) {
          return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
        }
        world.waits.push(ms);
        if (left.length === 0) open.abort();
        return Promise.resolve();
      },
      random: () => 1,
    };
    const listener: StreamListener = {
      message: ({ event, data }) => void world.told.push(`${event} ${data}`),
      connection: (state) => void world.told.push(state),
      fresh: () => void world.told.push('fresh'),
      signedOut: () => void world.told.push('signed out'),
    };
    await followStream(ports, listener, open.signal);
    return world;
  }

  test('begins with its first message, and comes back with the last id', async () => {
    const world = await follow([
      new Response(
        'event: change\nid: 7_j1\ndata: {}\n\nevent: hand_over\nretry: 90\ndata: {}\n\n',
      ),
      new Response('event: change\nid: 8_j2\ndata: {"n":2}\n\n'),
    ]);
    expect(world.asked).toEqual([undefined, '7_j1']);
    expect(world.told).toEqual([
      'live',
      'fresh',
      'change {}',
      'hand_over {}',
      'live',
      'change {"n":2}',
    ]);
    expect(world.waits[0]).toBe(90);
  });

  test('waits longer after each failure, and says that the line is lost', async () => {
    const down = new Error('down');
    const world = await follow([
      down,
      new Response('', { status: 503 }),
      down,
      new Response(':\n\n'),
    ]);
    expect(world.told).toEqual(['connecting', 'lost', 'lost', 'live']);
    expect(world.waits.slice(0, 3)).toEqual([500, 1000, 2000]);
  });

  test('what it could not resume is loaded anew', async () => {
    const world = await follow([new Error('down'), new Response('event: change\ndata: {}\n\n')]);
    expect(world.asked).toEqual([undefined, undefined]);
    expect(world.told).toContain('fresh');
  });

  test('ends when the session has ended', async () => {
    const world = await follow([new Response('', { status: 401 })]);
    expect(world.told).toEqual(['signed out']);
  });

  test('pauses grow to a quarter of a minute, and never all in step', () => {
    expect(pause(0, undefined, 0.5)).toBe(500);
    expect(pause(0, 90, 0.5)).toBe(90);
    expect(pause(20, 90, 1)).toBe(15_000);
    expect(pause(20, 90, 0)).toBe(7500);
  });
});
