/** Ten thousand jobs on one page, by mouse and by keys. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAX_BATCH_JOBS } from '../../shared/limits.ts';
import { createAgent, type Agent } from './support/agent.ts';
import { createBoardHarness, type BoardHarness, type Person } from './support/board-harness.ts';
import { withBrowser } from './support/chromium.ts';

const JOBS = 10_000;
/** Rows in sight and a few around them, whatever the length of the list. */
const MOST_ROWS_DRAWN = 60;

withBrowser('a list of ten thousand jobs', () => {
  let board: BoardHarness;
  let agent: Agent;
  let anna: Person;
  let page: Page;
  beforeAll(async () => {
    board = await createBoardHarness();
    agent = await createAgent(board, 'agent-7');
    await agent.call('PUT', '/v1/queues/bulk', { delivery: 'pull' });
    for (let from = 0; from < JOBS; from += MAX_BATCH_JOBS) {
      const jobs = Array.from({ length: MAX_BATCH_JOBS }, (_, at) => ({
        queue: 'bulk',
        type: `job.${from + at}`,
        payload: {},
      }));
      await agent.call('POST', '/v1/jobs/batch', { jobs });
    }
    anna = await board.person({ subject: 'anna' });
    ({ page } = anna);
    await page.goto('/board/jobs');
    await page.getByRole('row', { name: /job\.9999/ }).waitFor();
  }, 120_000);
  afterAll(() => board.close());

  test('loads as it is scrolled, and draws the rows in sight alone', async () => {
    const grid = page.getByRole('grid');
    while ((await grid.getAttribute('aria-rowcount')) === '-1') {
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
      expect(await page.getByRole('row').count()).toBeLessThan(MOST_ROWS_DRAWN);
    }
    expect(await grid.getAttribute('aria-rowcount')).toBe(String(JOBS + 1));
    await page.getByRole('row', { name: /job\.0 / }).waitFor();
  }, 120_000);

  test('is walked by keys, the focus in sight', async () => {
    const focused = page.locator('[role=row]:focus');
    await page.getByRole('row', { name: /job\.0 / }).focus();
    await page.keyboard.press('Home');
    await expect.poll(() => focused.getAttribute('aria-rowindex')).toBe('2');
    await page.keyboard.press('j');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('k');
    await expect.poll(() => focused.getAttribute('aria-rowindex')).toBe('3');
    await page.keyboard.press('End');
    await expect.poll(() => focused.getAttribute('aria-rowindex')).toBe(String(JOBS + 1));
    expect(await focused.innerText()).toContain('job.0');
    await page.keyboard.press('Home');
    await expect.poll(() => focused.getAttribute('aria-rowindex')).toBe('2');
  });

  test('follows keys that come faster than rows are drawn', async () => {
    const focused = page.locator('[role=row]:focus');
    await page.evaluate(`(() => {
      for (const key of ['j', 'j', 'j', 'k', 'ArrowDown', 'k']) {
        document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
      }
    })()`);
    await expect.poll(() => focused.getAttribute('aria-rowindex')).toBe('4');
    await page.keyboard.press('Home');
    await expect.poll(() => focused.getAttribute('aria-rowindex')).toBe('2');
  });

  test('keeps the focus on its job while another comes', async () => {
    const focused = page.locator('[role=row]:focus');
    await agent.call('POST', '/v1/jobs', { queue: 'bulk', type: 'job.new', payload: {} });
    await page.getByRole('row', { name: /job\.new/ }).waitFor();
    expect(await focused.innerText()).toContain('job.9999');
    expect(await focused.getAttribute('aria-rowindex')).toBe('3');
  });

  test('opens the job in focus with Enter, and the page says where one is', async () => {
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'job.9999' }).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1');
    expect(await page.title()).toBe('Job · Leasehold');
    await page.keyboard.press('g');
    await page.keyboard.press('d');
    await page.getByRole('heading', { level: 1, name: 'Dead letters' }).waitFor();
    expect(anna.complaints).toEqual([]);
  });
});
