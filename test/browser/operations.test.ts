/** What a person does now and then: events in quarantine, a job that waits for its time, an effect nobody knows the end of. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allPublished, claimed, settle } from '../outbox/support/shard-calls.ts';
import { createAgent, type Agent } from './support/agent.ts';
import { createBoardHarness, type BoardHarness, type Person } from './support/board-harness.ts';
import { withBrowser } from './support/chromium.ts';
import { appendEvent, quarantine } from './support/outbox.ts';

const ORDER = { aggregate_type: 'order', type: 'order.placed' };

withBrowser('operations on the board', () => {
  let board: BoardHarness;
  let agent: Agent;
  let anna: Person;
  let page: Page;
  beforeAll(async () => {
    board = await createBoardHarness();
    agent = await createAgent(board, 'agent-7');
    const pull = { delivery: 'pull', max_unknown_attempts: 1 };
    await agent.call('PUT', '/v1/queues/cards', pull);
    await agent.call('PUT', '/v1/queues/asked', pull);
    anna = await board.person({ subject: 'anna' });
    ({ page } = anna);
  });
  afterAll(() => board.close());

  const event = async (id: string): Promise<object> =>
    (await agent.call('GET', `/v1/outbox/events/${id}`)) as object;

  test('an event in quarantine is replayed with a reason, and what waits behind it goes on', async () => {
    const order = { ...ORDER, aggregate_id: '4711' };
    const id = await quarantine(board, agent, order, { code: 'no_topic', message: 'none fits' });
    const behind = await appendEvent(agent, { ...order, type: 'order.paid' });
    await page.goto('/board/outbox');
    const card = page.getByRole('region', { name: 'Quarantine' }).getByRole('listitem');
    await card.getByText('no_topic: none fits').waitFor();
    await card.getByRole('button', { name: 'Replay' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('What waits behind it in order 4711 then goes on').waitFor();
    await dialog.getByRole('button', { name: 'Replay the event' }).click();
    await dialog.getByText('the field is needed').waitFor();
    await dialog.getByLabel('Reason').fill('the topic is there by now');
    await dialog.getByRole('button', { name: 'Replay the event' }).click();
    await page.getByText('No event is quarantined').waitFor();
    expect(await event(id)).toMatchObject({
      state: 'held', // until a relay has tried it again
      log: expect.arrayContaining([
        expect.objectContaining({ type: 'replayed', actor: 'anna' }),
      ]) as unknown,
    });
    const { sql } = board.deployment.database;
    for (const next of [id, behind]) {
      const batch = await claimed(sql);
      expect(batch.events.map((one) => one.id)).toEqual([next]);
      await settle(sql, batch, allPublished(batch));
    }
  });

  test('an event in quarantine is skipped for good', async () => {
    const order = { ...ORDER, aggregate_id: '4712' };
    const id = await quarantine(board, agent, order, { code: 'too_large', message: 'too large' });
    await page.goto('/board/outbox');
    const card = page.getByRole('listitem').filter({ hasText: 'order 4712' });
    await card.getByRole('button', { name: 'Skip' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It is never published').waitFor();
    await dialog.getByLabel('Reason').fill('a test order');
    await dialog.getByRole('button', { name: 'Skip the event' }).click();
    await card.waitFor({ state: 'detached' });
    expect(await event(id)).toMatchObject({ state: 'skipped' });
  });

  test('a job that waits for its time is made due now', async () => {
    const { id } = (await agent.call('POST', '/v1/jobs', {
      queue: 'cards',
      type: 'card.later',
      payload: {},
      delay_seconds: 3600,
    })) as { readonly id: string };
    await page.goto(`/board/jobs/${id}`);
    await page.getByText('Waits for its time').waitFor();
    await page.getByRole('button', { name: 'Make due now' }).click();
    await page.getByRole('dialog').getByText('no longer waits for its time').waitFor();
    await page.getByRole('button', { name: 'Make it due now' }).click();
    await page.getByText('Ready to be claimed').waitFor();
    const held = await agent.claim('cards');
    expect(held.id).toBe(id);
    await held.complete();
  });

  /** A job whose attempt began an effect and did not say how it ended. */
  async function withOpenEffect(queue: string, end: 'fail' | 'ask'): Promise<string> {
    await agent.call('POST', '/v1/jobs', { queue, type: 'card.charge', payload: {} });
    const held = await agent.claim(queue);
    await board.deployment.database.pool.query(
      `select leasehold.begin_effect(s.job_id, s.owner, s.fencing_token, 'charge/1')
       from leasehold.job_state s where s.job_id = $1`,
      [held.id],
    );
    if (end === 'fail') await held.fail('crashed', 'no answer from the card service');
    else await held.ask('Was the card charged?');
    return held.id;
  }

  test('an effect of a dead job is settled as done, with its result', async () => {
    const id = await withOpenEffect('cards', 'fail');
    await page.goto(`/board/jobs/${id}`);
    const effects = page.getByRole('region', { name: 'Effects' });
    await effects.getByText('charge/1').waitFor();
    await effects.getByRole('button', { name: 'It was done' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('does not do it again').waitFor();
    await dialog.getByLabel('Result').fill('{"id": "ch_1"}');
    await dialog.getByRole('button', { name: 'It was done' }).click();
    await effects.getByText('settled by anna').waitFor();
    expect(await effects.getByRole('button').count()).toBe(0);
    expect((await board.worker.job(id)).effects).toMatchObject([
      { key: 'charge/1', state: 'done', result: { id: 'ch_1' }, settled_by: 'anna' },
    ]);
  });

  test('an effect of an escalated job is settled as not done', async () => {
    const id = await withOpenEffect('asked', 'ask');
    await page.goto(`/board/jobs/${id}`);
    const effects = page.getByRole('region', { name: 'Effects' });
    await effects.getByRole('button', { name: 'It was not done' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('else it happens twice').waitFor();
    await dialog.getByRole('button', { name: 'It was not done' }).click();
    await effects.getByText('settled by anna').waitFor();
    expect((await board.worker.job(id)).effects).toMatchObject([{ state: 'not_done' }]);
    expect(anna.complaints).toEqual([]);
  });
});
