/** What the board does for people with fewer rights, without a session, and at the keyboard alone. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAgent, type Agent } from './support/agent.ts';
import { createBoardHarness, type BoardHarness } from './support/board-harness.ts';
import { withBrowser } from './support/chromium.ts';

withBrowser('doors of the board', () => {
  let board: BoardHarness;
  let agent: Agent;
  beforeAll(async () => {
    board = await createBoardHarness();
    agent = await createAgent(board, 'agent-7');
    await agent.call('PUT', '/v1/queues/parcels', { delivery: 'pull', max_unknown_attempts: 1 });
    await agent.call('PUT', '/v1/schedules/nightly', {
      cron: '0 3 * * *',
      zone: 'Europe/Lisbon',
      queue: 'parcels',
      type: 'parcel.sweep',
      payload: {},
    });
    await agent.call('POST', '/v1/jobs', { queue: 'parcels', type: 'parcel.label', payload: {} });
    await (await agent.claim('parcels')).fail('printer_jam', 'out of paper');
  });
  afterAll(() => board.close());

  test('who may only read is shown everything and offered nothing', async () => {
    const { page, complaints, close } = await board.person({ subject: 'rea', scopes: ['read'] });
    await page.goto('/board');
    await page.getByRole('link', { name: 'parcels', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
    await page.goto('/board/dead');
    await page.getByText('printer_jam: out of paper').waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
    await page.getByRole('link', { name: 'parcel.label' }).click();
    await page.getByText('1. Failed').waitFor();
    expect(await page.getByRole('button', { name: 'Redrive' }).count()).toBe(0);
    expect(complaints).toEqual([]);
    await close();
  });

  test('a session that ends leads to the sign-in page, and back to where one was', async () => {
    const { page, context, close } = await board.person({ subject: 'anna' });
    await page.goto('/board/jobs?state=dead');
    await page.getByText('Live', { exact: true }).waitFor();
    await context.clearCookies();
    await page.getByRole('link', { name: 'Schedules' }).click();
    await page.waitForURL(/\/board\/sign-in\?next=/);
    expect(new URL(page.url()).searchParams.get('next')).toBe('/board/schedules');
    await close();
  });

  test('a schedule is paused and resumed by keys alone, each time with a word on what follows', async () => {
    const { page, complaints, close } = await board.person({ subject: 'anna' });
    await page.goto('/board/schedules');
    await page.getByRole('button', { name: 'Pause nightly' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Pause nightly?' });
    await dialog.getByText('makes no more jobs until it is resumed').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expect
      .poll(() => page.locator(':focus').getAttribute('aria-label'))
      .toBe('Pause nightly');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Pause the schedule' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Resume nightly' }).waitFor();
    expect(await agent.call('GET', '/v1/schedules/nightly')).toMatchObject({ paused: true });
    expect(complaints).toEqual([]);
    await close();
  });

  test('an address that is none says so', async () => {
    const { page, close } = await board.person({ subject: 'anna' });
    await page.goto('/board/nowhere');
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Not found');
    await page.goto('/board/jobs/018f4c1e-0000-7000-8000-000000000000');
    await page.getByText('No job has this id').waitFor();
    await close();
  });
});
