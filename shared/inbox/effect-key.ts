import type { Receipt } from './receipt.ts';

/**
 * The idempotency key of what a consumer does outside its database for one event: the same on every delivery, and different
 * for every consumer, sender and event.
 *
 * @param effect where one event has several effects
 * @returns 43 characters of base64url
 * @example fetch(url, { headers: { 'idempotency-key': await effectKey({ consumer: 'mails', event }) } })
 */
export async function effectKey(
  { consumer, sender = '', event }: Pick<Receipt, 'consumer' | 'sender' | 'event'>,
  effect = '',
): Promise<string> {
  const named = new TextEncoder().encode(JSON.stringify([consumer, sender, event.id, effect]));
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', named));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
