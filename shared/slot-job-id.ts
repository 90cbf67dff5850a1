/** The database takes ids whose time lies within a day of its clock; an hour is left for clocks that differ. */
const OWN_TIME_MS = 23 * 60 * 60 * 1000;

/**
 * The id of the job of a slot: a UUID version 7 that everybody works out alike, so that two ticks mean the same job. It
 * carries the slot's time; a slot made up for later than a day carries the present, as the database asks for (then
 * the record of the slot alone keeps it single).
 *
 * @param input.slot,input.now milliseconds since the epoch, `now` by the database clock
 * @param input.round 0, and one more when the id before turned out to belong to another job
 * @example await slotJobId({ schedule: 'nightly', slot: Date.UTC(2026, 11, 1), now, round: 0 })
 */
export async function slotJobId(input: {
  readonly schedule: string;
  readonly slot: number;
  readonly now: number;
  readonly round: number;
}): Promise<string> {
  const { schedule, slot, now, round } = input;
  const named = new TextEncoder().encode(JSON.stringify([schedule, slot, round]));
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', named)).slice(0, 16);
  const view = new DataView(bytes.buffer);
  const time = Math.abs(now - slot) <= OWN_TIME_MS ? slot : now;
  view.setUint32(0, Math.floor(time / 0x10000));
  view.setUint16(4, time % 0x10000);
  view.setUint8(6, 0x70 | (view.getUint8(6) & 0x0f));
  view.setUint8(8, 0x80 | (view.getUint8(8) & 0x3f));
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
