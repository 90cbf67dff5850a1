import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { relayScheduled } from '../../functions/scheduled/relay.ts';
import { webIds } from '../../functions/web-ports.ts';
import { createClientHarness } from './support/client-harness.ts';
import type { ClientHarness } from './support/client-harness.ts';

let harness: ClientHarness;
beforeAll(async () => {
  harness = await createClientHarness();
});
afterAll(() => harness.close());

const ORDER = { aggregate_type: 'order', aggregate_id: 'ünï/1', type: 'order.placed' };

describe('the outbox', () => {
  test('takes events, keeps their versions, and gives them back in order', async () => {
    const { outbox } = harness.client;
    const first = await outbox.append({ ...ORDER, payload: { total: 10 } });
    expect(first).toMatchObject({ outcome: 'appended', version: 1 });
    const second = await outbox.append({ ...ORDER, version: 2 });
    await expect(outbox.append({ ...ORDER, version: 2 })).rejects.toMatchObject({
      code: 'version_conflict',
      facts: { expected_version: 3 },
    });
    const { events } = await outbox.aggregateEvents('order', 'ünï/1', { after_version: 1 });
    expect(events).toEqual([
      expect.objectContaining({ id: second.id, version: 2, has_payload: false, state: 'pending' }),
    ]);
    const page = await outbox.list({ aggregate_type: 'order', aggregate_id: 'ünï/1', limit: 1 });
    expect(page.events.map(({ version }) => version)).toEqual([2]);
    const rest = await outbox.list({
      aggregate_type: 'order',
      aggregate_id: 'ünï/1',
      cursor: page.next_cursor ?? '',
    });
    expect(rest.events.map(({ version }) => version)).toEqual([1]);
    // An open transaction of any database of the server holds the feed up.
    await expect
      .poll(async () => (await outbox.feed()).events.map(({ id }) => id), { timeout: 60_000 })
      .toEqual([first.id, second.id]);
  }, 120_000);

  test('a lost answer to an append is one event', async () => {
    const { outbox } = harness.client;
    harness.app.http.endpoint.faults.next({ kind: 'drop_after_commit' }, { match: /append_event/ });
    const { id } = await outbox.append({ ...ORDER, aggregate_id: 'lost' });
    const { events } = await outbox.aggregateEvents('order', 'lost');
    expect(events.map((event) => event.id)).toEqual([id]);
  });

  test('lets a person see, replay and skip what could not be published', async () => {
    const { outbox } = harness.client;
    const { id } = await outbox.append({ ...ORDER, aggregate_id: 'poison' });
    const publishing = harness.app.deps({
      publisher: {
        publish: async () => ({
          outcome: 'rejected',
          error: { code: 'http_422', message: 'No.' },
        }),
      },
    });
    await relayScheduled(publishing);
    expect(await outbox.get(id)).toMatchObject({
      state: 'quarantined',
      last_error: { code: 'http_422' },
    });
    expect(await outbox.replay({ event_ids: [id], reason: 'repaired' })).toMatchObject({
      settled: 1,
      events: [{ id, outcome: 'replayed' }],
    });
    await relayScheduled(publishing);
    expect(await outbox.skip({ event_ids: [id], reason: 'test data' })).toMatchObject({
      settled: 1,
    });
    expect(await outbox.get(id)).toMatchObject({ state: 'skipped' });
    expect(await outbox.get(webIds.uuidv7())).toBeUndefined();
    expect(await outbox.metrics()).toMatchObject({ pending: { capped: false } });
  });
});
