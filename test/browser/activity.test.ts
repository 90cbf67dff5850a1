/** The activity page: what happened before it was opened, further back when asked, and what happens. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAgent, type Agent } from './support/agent.ts';
import { createBoardHarness, type BoardHarness, type Person } from './support/board-harness.ts';
import { withBrowser } from './support/chromium.ts';

/** More than a page of the log. */
const JOBS = 120;

withBrowser('S2.6 S2.7 the activity page', () => {
  let board: BoardHarness;
  let agent: Agent;
  let anna: Person;
  let page: Page;
  beforeAll(async () => {
    board = await createBoardHarness();
    agent = await createAgent(board, 'agent-7');
    for (const queue of ['parcels', 'letters']) {
      await agent.call('PUT', `/v1/queues/${queue}`, { delivery: 'pull' });
    }
    await add('letters', 'letter.first');
    await (await agent.claim('letters')).complete();
    const jobs = Array.from({ length: JOBS }, (_, at) => ({
      queue: 'parcels',
      type: `parcel.${at}`,
      payload: {},
    }));
    await agent.call('POST', '/v1/jobs/batch', { jobs });
    anna = await board.person({ subject: 'anna' });
    ({ page } = anna);
  });
  afterAll(() => board.close());

  const items = (text: string | RegExp) => page.getByRole('listitem').filter({ hasText: text });

  async function add(queue: string, type: string): Promise<void> {
    await agent.call('POST', '/v1/jobs', { queue, type, payload: {} });
  }

  test('S2.6 begins with what has happened lately, and older events come when asked for', async () => {
    await page.goto('/board/activity');
    await items('parcel.119').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await items(/parcel\./).count()).toBeLessThan(JOBS);
    expect(await items('letter.first').count()).toBe(0);
    await page.getByRole('button', { name: 'Load older events' }).click();
    await items('letter.first').first().waitFor();
    const told = await page.getByRole('listitem').locator('.event-what').allTextContents();
    expect(told).toEqual([
      ...Array.from({ length: JOBS }, () => 'Created'),
      'Completed',
      'Claimed',
      'Created',
      'Queue settings changed',
      'Queue settings changed',
    ]);
    expect(await page.getByRole('button', { name: 'Load older events' }).count()).toBe(0);
  });

  test('S2.7 goes on with what happens', async () => {
    await add('letters', 'letter.second');
    await items('letter.second').waitFor();
    expect(await page.locator('.events li').first().innerText()).toContain('letter.second');
    expect(await items(/parcel\./).count()).toBe(JOBS);
  });

  test('is asked by queue, actor and kind of event, whatever was loaded before', async () => {
    await page.getByRole('combobox', { name: 'Queue' }).selectOption('letters');
    await items('letter.first').first().waitFor();
    expect(await items(/parcel\./).count()).toBe(0);
    await page.getByLabel('Kind of event').selectOption('Claimed');
    await expect.poll(() => page.locator('.event-what').allTextContents()).toEqual(['Claimed']);
    await page.getByLabel('Actor').fill('nobody');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing fits these filters').waitFor();
    expect(page.url()).toContain('queue=letters&type=claimed&actor=nobody');
    await page.getByLabel('Actor').fill('agent-7');
    await page.keyboard.press('Enter');
    await items('Claimed').waitFor();
    // Filters hold for what comes as well.
    await (await agent.claim('parcels')).complete();
    await (await agent.claim('letters')).complete();
    await items('letter.second').waitFor();
    expect(await page.locator('.event-what').allTextContents()).toEqual(['Claimed', 'Claimed']);
    await page.reload();
    await items('letter.second').waitFor();
    expect(await page.locator('.event-what').allTextContents()).toEqual(['Claimed', 'Claimed']);
    expect(anna.complaints).toEqual([]);
  });
});
