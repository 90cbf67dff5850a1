/** Two people and one agent before one board: what one does is seen by the others within a second, without a reload. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAgent, type Agent, type HeldJob } from './support/agent.ts';
import { createBoardHarness, type BoardHarness, type Person } from './support/board-harness.ts';
import { withBrowser } from './support/chromium.ts';

const SECOND = 1000;
/** Milliseconds until each change was seen. */
const delays: number[] = [];

withBrowser('one board, two people and an agent', () => {
  let board: BoardHarness;
  let agent: Agent;
  let anna: Person;
  let ben: Person;
  beforeAll(async () => {
    board = await createBoardHarness();
    agent = await createAgent(board, 'agent-7');
    const quick = { backoff_base_ms: 0, backoff_cap_ms: 0, delivery: 'pull' };
    await agent.call('PUT', '/v1/queues/refunds', { ...quick, on_exhausted: 'escalate' });
    await agent.call('PUT', '/v1/queues/parcels', { ...quick, max_unknown_attempts: 1 });
    anna = await board.person({ subject: 'anna' });
    ben = await board.person({ subject: 'ben' });
  });
  afterAll(() => board.close());

  describe('S2.4 S2.7 a job that its agent cannot do', () => {
    let id: string;
    let held: HeldJob;

    test('is seen as soon as it is there', async () => {
      await open(anna.page, '/board/jobs');
      await open(ben.page, '/board');
      ({ id } = (await agent.call('POST', '/v1/jobs', {
        queue: 'refunds',
        type: 'refund.check',
        payload: { iban: 'PT50-secret' },
      })) as { id: string });
      expect(
        await seen(anna.page.getByRole('row', { name: /refund\.check/ }).getByText('Pending')),
      ).toBe(true);
      expect(await seen(ben.page.getByRole('listitem').filter({ hasText: 'Created' }))).toBe(true);
    });

    test('S2.1 is claimed, and its progress shows on its page', async () => {
      await anna.page.getByRole('link', { name: 'refund.check' }).click();
      await anna.page.getByText('Ready to be claimed').waitFor();
      held = await agent.claim('refunds');
      expect(await seen(anna.page.getByText('Attempt 1 runs at agent-7'))).toBe(true);
      await held.progress('page 3 of 9');
      expect(await seen(anna.page.getByText('page 3 of 9').first())).toBe(true);
      await held.progress('page 4 of 9');
      expect(await seen(anna.page.getByText('page 4 of 9').first())).toBe(true);
      expect(await seen(ben.page.getByRole('listitem').filter({ hasText: 'page 4 of 9' }))).toBe(
        true,
      );
    });

    test('fails three times, and then waits for a person', async () => {
      await open(ben.page, '/board/escalations');
      await ben.page.getByText('Nothing waits for a person').waitFor();
      await held.fail('amount_differs', 'invoice says 120.00');
      expect(await seen(anna.page.getByText('1. Failed'))).toBe(true);
      await (await agent.claim('refunds')).fail('amount_differs', 'invoice says 120.00');
      await (await agent.claim('refunds')).fail('amount_differs', 'invoice says 120.00');
      expect(await seen(anna.page.getByRole('heading', { level: 1 }).getByText('Escalated'))).toBe(
        true,
      );
      expect(await seen(ben.page.getByText('amount_differs: invoice says 120.00'))).toBe(true);
      await ben.page.getByRole('link', { name: 'For people 1' }).waitFor(); // counts come every two seconds
      await expect(agent.claim('refunds')).rejects.toThrow('no job');
    });

    test('is taken by one person, and the other sees by whom', async () => {
      await ben.page.getByRole('button', { name: 'Take it' }).click();
      expect(await seen(ben.page.getByText('You have it'))).toBe(true);
      await open(anna.page, '/board/escalations');
      await anna.page.getByText('ben has it').waitFor();
      expect(await anna.page.getByRole('button', { name: 'Complete' }).count()).toBe(0);
    });

    test('is held through a reload, and sent back with a note that the next holder gets', async () => {
      await ben.page.reload();
      await ben.page.getByRole('button', { name: 'Send back' }).click();
      await ben.page.getByLabel('Note for the next holder').fill('Use the amount on the order.');
      await ben.page.getByRole('button', { name: 'Send it back' }).click();
      expect(await seen(anna.page.getByText('Nothing waits for a person'))).toBe(true);
      held = await agent.claim('refunds');
      expect(held.note).toBe('Use the amount on the order.');
    });

    test('is asked about, taken and completed by a person', async () => {
      await held.ask('The order has no amount. What now?');
      expect(await seen(anna.page.getByText('The order has no amount. What now?'))).toBe(true);
      await anna.page.getByRole('button', { name: 'Take the oldest' }).click();
      await anna.page.getByRole('button', { name: 'Complete', exact: true }).click();
      await ben.page.getByText('anna has it').waitFor();
      await anna.page.getByLabel('What you did').fill('Paid back by hand.');
      await anna.page.getByRole('button', { name: 'Complete the job' }).click();
      expect(await seen(ben.page.getByText('Nothing waits for a person'))).toBe(true);
      expect(await seen(anna.page.getByRole('heading', { level: 1 }).getByText('Succeeded'))).toBe(
        true,
      );
      const job = await board.worker.job(id);
      expect(job).toMatchObject({ state: 'succeeded', finished_by: 'anna' });
    });

    test('keeps its payload to itself until somebody asks', async () => {
      expect(await anna.page.getByText('PT50-secret').count()).toBe(0);
      await anna.page.getByRole('button', { name: 'Show payload' }).click();
      await anna.page.getByText('PT50-secret').waitFor();
    });

    test('has its whole story on its page', async () => {
      await anna.page.reload();
      const story = anna.page.getByRole('region', { name: 'Timeline' }).getByRole('listitem');
      await story.filter({ hasText: 'Created' }).waitFor();
      const told = await story.locator('.event-what').allTextContents();
      expect(told.toReversed()).toEqual([
        'Created',
        'Claimed',
        'Progress',
        'Progress',
        'Failed',
        'Claimed',
        'Failed',
        'Claimed',
        'Failed',
        'Escalated to a person',
        'Taken by a person',
        'Sent back',
        'Claimed',
        'Escalated to a person',
        'Taken by a person',
        'Completed',
      ]);
    });
  });

  describe('dead letters', () => {
    test('a job that dies is assigned, redriven with a reason, and runs again', async () => {
      await open(anna.page, '/board/dead');
      await anna.page.getByText('Nothing is dead').waitFor();
      await open(ben.page, '/board/dead');
      const { id } = (await agent.call('POST', '/v1/jobs', {
        queue: 'parcels',
        type: 'parcel.label',
        payload: {},
      })) as { id: string };
      await (await agent.claim('parcels')).fail('printer_jam', 'out of paper');
      const row = anna.page.getByRole('row', { name: /parcel\.label/ });
      expect(await seen(row.getByText('printer_jam: out of paper'))).toBe(true);
      await row.getByRole('checkbox').check();
      await anna.page.getByRole('button', { name: 'Assign' }).click();
      await anna.page.getByRole('button', { name: 'Save' }).click();
      expect(
        await seen(ben.page.getByRole('row', { name: /parcel\.label/ }).getByText('anna')),
      ).toBe(true);
      await anna.page.getByRole('button', { name: 'Redrive', exact: true }).click();
      const dialog = anna.page.getByRole('dialog');
      await dialog.getByText('back to “parcels” as the same job').waitFor();
      await dialog.getByRole('button', { name: 'Redrive the job' }).click();
      await dialog.getByText('the field is needed').waitFor();
      await dialog.getByLabel('Reason').fill('paper is there again');
      await dialog.getByRole('button', { name: 'Redrive the job' }).click();
      expect(await seen(ben.page.getByText('Nothing is dead'))).toBe(true);
      const again = await agent.claim('parcels');
      expect(again.id).toBe(id);
      await again.complete();
    });

    test('all of a queue are discarded only as many as a person saw', async () => {
      for (let at = 0; at < 3; at += 1) {
        await agent.call('POST', '/v1/jobs', {
          queue: 'parcels',
          type: 'parcel.label',
          payload: {},
        });
        await (await agent.claim('parcels')).fail('printer_jam', 'out of paper');
      }
      await open(anna.page, '/board/dead?queue=parcels');
      await anna.page.getByRole('button', { name: 'Discard all of parcels' }).click();
      const dialog = anna.page.getByRole('dialog');
      await dialog.getByText('Discard all 3 dead jobs that fit?').waitFor();
      await agent.call('POST', '/v1/jobs', { queue: 'parcels', type: 'parcel.label', payload: {} });
      await (await agent.claim('parcels')).fail('printer_jam', 'out of paper');
      await dialog.getByLabel('Reason').fill('old labels');
      await dialog.getByRole('button', { name: 'Discard 3 jobs' }).click();
      await dialog.getByText('The filter fits 4 dead jobs, not 3').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await anna.page.getByRole('button', { name: 'Discard all of parcels' }).click();
      await dialog.getByText('Discard all 4 dead jobs that fit?').waitFor();
      await dialog.getByLabel('Reason').fill('old labels');
      await dialog.getByRole('button', { name: 'Discard 4 jobs' }).click();
      expect(await seen(ben.page.getByText('Nothing is dead'))).toBe(true);
    });
  });

  test('a queue is paused and resumed, with the reason in everybody’s sight', async () => {
    await open(anna.page, '/board');
    await open(ben.page, '/board/queues/parcels');
    await anna.page.getByRole('button', { name: 'Pause parcels' }).click();
    await anna.page.getByLabel('Reason').fill('stocktaking');
    await anna.page.getByRole('button', { name: 'Pause the queue' }).click();
    expect(await seen(ben.page.getByText('by anna: stocktaking'))).toBe(true);
    await ben.page.getByRole('button', { name: 'Resume parcels' }).click();
    await ben.page.getByRole('button', { name: 'Resume the queue' }).click();
    expect(await seen(anna.page.getByRole('button', { name: 'Pause parcels' }))).toBe(true);
  });

  test('a running job is called off, and its holder hears of it', async () => {
    await agent.call('POST', '/v1/jobs', { queue: 'parcels', type: 'parcel.send', payload: {} });
    const held = await agent.claim('parcels');
    await open(anna.page, `/board/jobs/${held.id}`);
    await open(ben.page, `/board/jobs/${held.id}`);
    await anna.page.getByRole('button', { name: 'Cancel' }).click();
    const dialog = anna.page.getByRole('dialog');
    await dialog.getByText('agent-7 is asked to stop').waitFor();
    await dialog.getByLabel('Reason').fill('wrong address');
    await dialog.getByRole('button', { name: 'Ask it to stop' }).click();
    expect(await seen(ben.page.getByText('asked to stop by anna: wrong address'))).toBe(true);
  });

  test('each change was seen within a second', () => {
    expect(delays.length).toBeGreaterThan(20);
    // A busy machine may hold up a few of them.
    const usual = delays.toSorted((left, right) => left - right)[Math.floor(delays.length * 0.75)];
    expect(usual).toBeLessThan(SECOND);
  });

  test('nobody’s browser had anything to complain about', () => {
    // The refusal of a count that had changed is an answer like others.
    const refused = 'status of 409 (Conflict)';
    const complaints = [...anna.complaints, ...ben.complaints];
    expect(complaints.filter((complaint) => !complaint.includes(refused))).toEqual([]);
  });
});

async function open(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.getByText('Live', { exact: true }).waitFor();
}

/** Waits for what the deed before it has to show, and notes how long it took. */
async function seen(what: ReturnType<Page['getByText']>): Promise<boolean> {
  const from = performance.now();
  await what.first().waitFor();
  return delays.push(performance.now() - from) > 0;
}
