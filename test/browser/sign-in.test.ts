import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAX_SESSION_TOKEN_CHARS } from '../../shared/limits.ts';
import { SCOPES } from '../../shared/scopes.ts';
import { seriousFaults } from './support/axe.ts';
import { createBoardHarness, signIn } from './support/board-harness.ts';
import type { BoardHarness } from './support/board-harness.ts';
import { withBrowser } from './support/chromium.ts';

withBrowser('signing in to the board', () => {
  let board: BoardHarness;
  beforeAll(async () => {
    board = await createBoardHarness();
  });
  afterAll(() => board.close());

  test('a person with a token is let in, and no script of the page can read it', async () => {
    const anna = await board.person({ subject: 'anna' });
    await anna.page.getByText('anna').first().waitFor();
    const cookies = await anna.context.cookies();
    expect(cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite])).toEqual([
      ['leasehold_session', true, 'Strict'],
      ['leasehold_csrf', false, 'Strict'],
    ]);
    const seen = await anna.page.evaluate(() => document.cookie);
    expect(seen).toMatch(/^leasehold_csrf=[\da-f]{64}$/);
    expect(anna.complaints).toEqual([]);
    await anna.close();
  });

  test('a bad token is answered in words, and a good one then goes on to where one wanted to', async () => {
    const bo = await board.stranger();
    await bo.page.goto('/board/queues/emails');
    await bo.page.waitForURL((url) => url.pathname === '/board/sign-in');
    await bo.page.getByLabel('Token').fill('hunter2');
    await bo.page.keyboard.press('Enter');
    await bo.page.getByRole('alert').waitFor();
    expect(await bo.page.getByLabel('Token').inputValue()).toBe('');
    expect(await bo.context.cookies()).toEqual([]);
    const token = await board.deployment.token({ subject: 'bo', scopes: ['read'] });
    await bo.page.getByLabel('Token').fill(token);
    await bo.page.keyboard.press('Enter');
    await bo.page.waitForURL((url) => url.pathname === '/board/queues/emails');
    await bo.close();
  });

  test.each(['light', 'dark'] as const)(
    'its page has no serious fault in %s',
    async (colorScheme) => {
      const bo = await board.stranger({ colorScheme, viewport: { width: 390, height: 844 } });
      await bo.page.goto('/board/sign-in');
      await bo.page.getByLabel('Token').fill('hunter2');
      await bo.page.keyboard.press('Enter');
      await bo.page.getByRole('alert').waitFor();
      expect(await seriousFaults(bo.page)).toEqual([]);
      await bo.close();
    },
  );

  test(`Chromium keeps a token of ${MAX_SESSION_TOKEN_CHARS} characters`, async () => {
    const long = await board.stranger();
    await signIn(long.page, await tokenOf(board, MAX_SESSION_TOKEN_CHARS));
    const session = await long.page.evaluate(async () => (await fetch('/board/session')).status);
    expect(session).toBe(200);
    await long.close();
  });

  test('a link from elsewhere opens the board, and another site can do nothing there', async () => {
    const anna = await board.person({ subject: 'anna' });
    const site = await otherSite(board.worker.url);
    await anna.page.goto(site.url);
    const answer = anna.page.waitForResponse((one) => one.url().endsWith('/v1/jobs'));
    await anna.page.getByRole('button', { name: 'Win' }).click();
    expect((await answer).status()).toBe(401); // the browser keeps the cookie to itself
    await anna.page.goto(site.url);
    await anna.page.getByRole('link', { name: 'Board' }).click();
    await anna.page.waitForURL((url) => url.pathname === '/board/queues/emails');
    await anna.page.getByText('anna').first().waitFor();
    await anna.page.goto(`${site.url}/frame`);
    const frame = anna.page.frames().find((one) => one !== anna.page.mainFrame());
    expect(await frame?.locator('#board').count()).toBe(0);
    await site.close();
    await anna.close();
  });

  test('a neighbour of the same site is kept out by what the browser says of it', async () => {
    const anna = await board.person({ subject: 'anna' });
    // Cookies know no ports: to the browser, this is the same site.
    const site = await otherSite(board.worker.url, '127.0.0.1');
    await anna.page.goto(site.url);
    const answer = anna.page.waitForResponse((one) => one.url().endsWith('/v1/jobs'));
    await anna.page.getByRole('button', { name: 'Win' }).click();
    const refused = await answer;
    expect([refused.status(), (await refused.json()) as unknown]).toMatchObject([
      403,
      { code: 'csrf_refused', detail: 'The call does not come from a page of this origin.' },
    ]);
    await site.close();
    await anna.close();
  });

  test('signing out ends the session in every tab', async () => {
    const anna = await board.person({ subject: 'anna' });
    const status = await anna.page.evaluate(
      async () => (await fetch('/board/sign-out', { method: 'POST' })).url,
    );
    expect(status).toContain('/board/sign-in');
    expect(await anna.context.cookies()).toEqual([]);
    // The page may be on its way there by itself, which breaks this off.
    await anna.page.goto('/board').catch(() => undefined);
    await anna.page.waitForURL((url) => url.pathname === '/board/sign-in');
    await anna.close();
  });
});

/** A page that tries to use a session it cannot see. */
async function otherSite(
  board: string,
  host = 'localhost',
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const page = `<!doctype html><title>Other</title>
    <a href="${board}/board/queues/emails">Board</a>
    <form method="post" action="${board}/v1/jobs" enctype="text/plain"><button>Win</button></form>`;
  const frame = `<!doctype html><title>Other</title><iframe src="${board}/board"></iframe>`;
  const server: Server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(request.url === '/frame' ? frame : page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('no TCP address');
  return {
    url: `http://${host}:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A token of exactly so many characters. */
async function tokenOf(board: BoardHarness, chars: number): Promise<string> {
  const of = async (pad: number): Promise<string> =>
    await board.deployment.token({
      subject: 'x'.repeat(100),
      scopes: [...SCOPES, 'y'.repeat(pad)],
    });
  const base = (await of(0)).length;
  for (let pad = Math.floor(((chars - base) * 3) / 4) - 3; ; pad += 1) {
    const token = await of(pad);
    if (token.length === chars) return token;
    if (token.length > chars) throw new Error(`No token has ${chars} characters.`);
  }
}
