/** Case I5: one effect for one message of one sender, whatever comes again, and from whomever. */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { processOnceIn } from '../../shared/inbox/process-once.ts';
import {
  receiveSignedEvent,
  type SignedEventOutcome,
} from '../../shared/inbox/receive-signed-event.ts';
import { eventRequest, type HttpFormat } from '../../shared/publish/http-request.ts';
import { signWebhook } from '../../shared/webhook.ts';
import { publishedEvent } from '../broker/support/published-event.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { DRIVERS, type Driver } from '../transaction/support/drivers.ts';
import { createNotes, notes } from '../transaction/support/notes.ts';

const NOW = Date.UTC(2026, 10, 30, 12);
const MINUTE = 60_000;
const key = (): string => `whsec_${randomBytes(32).toString('base64')}`;
const SHOP = { name: 'shop', key: key() };
const BANK = { name: 'bank', key: key() };

interface Message {
  readonly header: (name: string) => string | undefined;
  readonly body: string;
}

/** As the publisher of an outbox signs and sends it. */
async function sent(
  sender: typeof SHOP,
  { id = randomUUID() as string, at = NOW, format = 'structured' as HttpFormat, version = 1 } = {},
): Promise<Message> {
  const request = eventRequest({
    url: new URL('https://consumer.example/events'),
    event: publishedEvent({ id, version }),
    format,
    source: '/orders',
    keys: [sender.key],
    nowMs: at,
    signal: new AbortController().signal,
  });
  return {
    header: (name) => request.headers.get(name) ?? undefined,
    body: await request.text(),
  };
}

function received(sender: typeof SHOP, message: Message, nowMs = NOW): SignedEventOutcome {
  return receiveSignedEvent({ ...message, keys: [sender.key], nowMs });
}

function withHeaders(message: Message, changed: Record<string, string | undefined>): Message {
  return {
    ...message,
    header: (name) => (name in changed ? changed[name] : message.header(name)),
  };
}

describe.each(['structured', 'binary'] as const)('case I5 in %s mode', (format) => {
  test('a signed event is taken, under its signed id', async () => {
    const id = randomUUID();
    expect(received(SHOP, await sent(SHOP, { id, format, version: 7 }))).toMatchObject({
      outcome: 'event',
      event: { id, type: 'order.placed', aggregateType: 'order', aggregateId: '42', version: 7 },
    });
  });

  test('no id is 400, and none is made up', async () => {
    const message = withHeaders(await sent(SHOP, { format }), { 'webhook-id': undefined });
    expect(received(SHOP, message)).toEqual({ outcome: 'refused', status: 400, reason: 'bad_id' });
  });

  test.each([
    ['of 10 KB', 'x'.repeat(10_240)],
    ['that is empty', ''],
    ['with a dot', 'a.b'],
    ['with a space', 'a b'],
    ['with a line break', 'a\nb'],
    ['beyond ASCII', 'ä'],
  ])('an id %s is 400', async (_what, id) => {
    const message = withHeaders(await sent(SHOP, { format }), { 'webhook-id': id });
    expect(received(SHOP, message)).toEqual({ outcome: 'refused', status: 400, reason: 'bad_id' });
  });

  test('a message that is replayed after ten minutes is 401, one from the future too', async () => {
    const message = await sent(SHOP, { format });
    expect(received(SHOP, message, NOW + 10 * MINUTE)).toEqual({
      outcome: 'refused',
      status: 401,
      reason: 'too_old',
    });
    expect(received(SHOP, message, NOW - 10 * MINUTE)).toMatchObject({ reason: 'too_new' });
    expect(received(SHOP, message, NOW + 5 * MINUTE)).toMatchObject({ outcome: 'event' });
  });

  test("another sender's signature is 401, and so is a changed body or a missing signature", async () => {
    const message = await sent(SHOP, { format });
    const refused = { outcome: 'refused', status: 401 };
    expect(received(BANK, message)).toEqual({ ...refused, reason: 'no_match' });
    const changed = { ...message, body: message.body.replace('10', '99') };
    expect(received(SHOP, changed)).toEqual({ ...refused, reason: 'no_match' });
    const unsigned = withHeaders(message, { 'webhook-signature': undefined });
    expect(received(SHOP, unsigned)).toEqual({ ...refused, reason: 'missing_headers' });
  });

  test('an event whose own id is not the signed one is 400', async () => {
    const message = await sent(SHOP, { format });
    const id = randomUUID();
    const nowMs = NOW;
    const resigned = signWebhook(SHOP.key, { id, body: message.body, nowMs });
    expect(received(SHOP, withHeaders(message, { ...resigned }))).toEqual({
      outcome: 'refused',
      status: 400,
      reason: 'id_mismatch',
    });
  });
});

test('a signed body that is no event is 400', () => {
  const body = 'not json';
  const id = randomUUID();
  const signed: Record<string, string> = { ...signWebhook(SHOP.key, { id, body, nowMs: NOW }) };
  const message = { header: (name: string) => signed[name], body };
  expect(received(SHOP, message)).toEqual({ outcome: 'refused', status: 400, reason: 'bad_event' });
});

describe('case I5 with the inbox behind it', () => {
  let db: TestDatabase;
  let driver: Driver;
  beforeAll(async () => {
    db = await createTestDatabase();
    await createNotes(db.pool);
    driver = await (DRIVERS['pg'] ?? expect.unreachable())(db.pgUrl);
  });
  afterAll(async () => {
    await driver.close();
    await db.drop();
  });

  const deliver = async (sender: typeof SHOP, message: Message, nowMs = NOW): Promise<unknown> => {
    const read = received(sender, message, nowMs);
    if (read.outcome === 'refused') return read.status;
    const { event } = read;
    const end = await driver.transact(({ transaction, write }) =>
      processOnceIn(transaction, { consumer: 'ledger', sender: sender.name, event }, () =>
        write(`${sender.name} ${event.id}`),
      ),
    );
    return end.outcome;
  };

  test('S4.5 one id: twice with other times and signatures, from two senders, and an old recording', async () => {
    const id = randomUUID();
    expect(await deliver(SHOP, await sent(SHOP, { id }))).toBe('applied');
    const later = await sent(SHOP, { id, at: NOW + MINUTE });
    expect(await deliver(SHOP, later, NOW + MINUTE)).toBe('duplicate');
    expect(await deliver(BANK, await sent(BANK, { id }))).toBe('applied');
    expect(await deliver(BANK, await sent(BANK, { id }))).toBe('duplicate');
    expect(await deliver(SHOP, later, NOW + 11 * MINUTE)).toBe(401);
    expect(await notes(db.pool)).toEqual([`shop ${id}`, `bank ${id}`]);
  });
});
