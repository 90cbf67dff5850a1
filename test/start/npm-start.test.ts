/** What a newcomer does: `npm start`, paste the two commands, Ctrl-C. On a path with a space, with the Node they have. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { processesWith } from '../../infra/local/processes.ts';
import { createTestDatabase } from '../support/database.ts';
import { copyCheckout, plainEnvironment, type Checkout } from './checkout.ts';
import { npmStart, type NpmStart } from './npm-start.ts';

const READY = 'Ctrl-C stops everything';
const LONG_MS = 120_000;

let checkout: Checkout;
let running: NpmStart | undefined;

beforeAll(() => {
  checkout = copyCheckout();
}, LONG_MS);

afterEach(async () => {
  running?.signal('SIGINT');
  await running?.exit;
  for (const pid of processesWith(checkout.path)) process.kill(pid, 'SIGKILL');
}, LONG_MS);

afterAll(() => checkout.remove());

describe('npm start', { timeout: LONG_MS }, () => {
  test('the printed commands work, a second start is refused, Ctrl-C leaves nothing behind', async () => {
    const run = start();
    await run.until(READY);
    const [enqueue = '', show = ''] = curls(run);
    expect(json(enqueue)).toMatchObject({ type: 'report.csv' });
    await expect.poll(() => json(show)['state'], { timeout: 10_000 }).toBe('succeeded');
    const board = /^ {2}board +(\S+)$/m.exec(run.output())?.[1] ?? '';
    expect(await (await fetch(board)).text()).toContain('/board/assets/board.js');
    expect((await fetch(`${board}/assets/board.js`)).status).toBe(200);

    const second = npmStart(checkout.path);
    expect(await second.exit).not.toBe(0);
    expect(second.output()).toContain('already runs in this checkout');
    expect(json(show)).toMatchObject({ state: 'succeeded' });

    run.signal('SIGINT');
    await run.exit;
    expect(run.output()).toContain('Stopping');
    expect(processesWith(checkout.path)).toEqual([]);
  });

  test('it recovers from kill -9, with its data and its tokens', async () => {
    const killed = start();
    await killed.until(READY);
    const [enqueue = '', show = ''] = curls(killed);
    json(enqueue);
    await expect.poll(() => json(show)['state'], { timeout: 10_000 }).toBe('succeeded');
    process.kill(holder().pid, 'SIGKILL');
    await killed.exit;
    expect(processesWith(checkout.path).length).toBeGreaterThan(0);

    const run = start();
    await run.until(READY);
    expect(run.output()).toContain('left by a run that was killed');
    const again = show.replace(/http:\/\/127\.0\.0\.1:\d+/, holder().url);
    expect(json(again)).toMatchObject({ state: 'succeeded' });

    run.signal('SIGTERM');
    await run.exit;
    expect(processesWith(checkout.path)).toEqual([]);
  });

  test('DATABASE_URL is used when set, and the demo runs to its end on it', async () => {
    const database = await createTestDatabase();
    try {
      const run = start(['--demo'], { DATABASE_URL: database.pgUrl });
      await run.until('Demo: done');
      const { rows } = await database.pool.query<{ done: number }>(
        'select count(*)::int as done from leasehold.finished_jobs',
      );
      expect(rows[0]?.done).toBeGreaterThan(300);
      expect(run.output()).not.toContain(new URL(database.pgUrl).password);
      run.signal('SIGINT');
      await run.exit;
    } finally {
      await database.drop();
    }
  });

  test('--help says what there is, and a wrong option is refused', async () => {
    const help = npmStart(checkout.path, ['--help']);
    expect(await help.exit).toBe(0);
    expect(help.output()).toContain('--demo');
    const wrong = npmStart(checkout.path, ['--port', 'x']);
    expect(await wrong.exit).not.toBe(0);
    expect(wrong.output()).toContain('--port takes a number');
  });
});

function start(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): NpmStart {
  running = npmStart(checkout.path, args, env);
  return running;
}

function curls(run: NpmStart): string[] {
  return run
    .output()
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('curl '));
}

/** Pastes a command into a shell. */
function json(command: string): Record<string, unknown> {
  const printed = execFileSync('sh', ['-c', command], {
    encoding: 'utf8',
    env: plainEnvironment(),
  });
  return JSON.parse(printed) as Record<string, unknown>;
}

function holder(): { readonly pid: number; readonly url: string } {
  const text = readFileSync(join(checkout.path, '.leasehold', 'running.json'), 'utf8');
  return JSON.parse(text) as { pid: number; url: string };
}
