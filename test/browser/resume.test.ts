/** A board whose line is cut: it says so, comes back by itself, and has missed nothing. */
import type { Request } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAgent, type Agent } from './support/agent.ts';
import { createBoardHarness, type BoardHarness, type Person } from './support/board-harness.ts';
import { withBrowser } from './support/chromium.ts';
import { createCuttableProxy, type CuttableProxy } from './support/cuttable-proxy.ts';

withBrowser('S2.7 a stream that is cut', () => {
  let board: BoardHarness;
  let proxy: CuttableProxy;
  let agent: Agent;
  let anna: Person;
  beforeAll(async () => {
    board = await createBoardHarness();
    proxy = await createCuttableProxy(board.worker.url);
    agent = await createAgent(board, 'agent-7');
    await agent.call('PUT', '/v1/queues/parcels', { delivery: 'pull' });
    anna = await board.person({ subject: 'anna' }, { baseURL: proxy.url });
  });
  afterAll(async () => {
    await anna.close();
    await proxy.close();
    await board.close();
  });

  test('S2.7 is resumed where it was cut: what happened meanwhile is there, each thing once', async () => {
    const { page } = anna;
    const streams: Request[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/v1/events/stream')) streams.push(request);
    });
    await page.goto('/board/activity');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.evaluate('window.sameAsBefore = true');
    await add(agent, 'before.cut');
    await page.getByText('before.cut').waitFor();

    proxy.cut();
    await page.getByText('Connection lost').waitFor();
    for (let at = 0; at < 5; at += 1) await add(agent, 'while.cut');
    await (await agent.claim('parcels')).complete();
    proxy.mend();

    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('listitem').filter({ hasText: 'Completed' }).waitFor();
    expect(await page.getByRole('listitem').filter({ hasText: 'while.cut' }).count()).toBe(5);
    expect(await page.getByRole('listitem').filter({ hasText: 'before.cut' }).count()).toBe(3);
    expect(await page.evaluate('window.sameAsBefore')).toBe(true);
    const resumed = await streams.at(-1)?.allHeaders();
    expect(resumed?.['last-event-id']).toMatch(/^\d+_[jq]\d+$/);
  });

  test('lists are true again as well, and go on being', async () => {
    const { page } = anna;
    await page.goto('/board/jobs?type=third.kind');
    await page.getByText('No job fits these filters').waitFor();
    proxy.cut();
    await page.getByText('Connection lost').waitFor();
    await add(agent, 'third.kind');
    proxy.mend();
    const rows = page.getByRole('row', { name: /third\.kind/ });
    await rows.first().waitFor();
    await add(agent, 'third.kind');
    await rows.nth(1).waitFor();
    expect(await rows.count()).toBe(2);
  });
});

async function add(agent: Agent, type: string): Promise<void> {
  await agent.call('POST', '/v1/jobs', { queue: 'parcels', type, payload: {} });
}
