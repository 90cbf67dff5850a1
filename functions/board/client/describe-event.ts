/** One row of the event log as a sentence: what happened, and the few details that a reader asks for next. */
import { words } from './format.ts';
import type { BoardEvent } from './wire.ts';

export type Tone = 'plain' | 'good' | 'bad' | 'warn' | 'active';

export interface Told {
  readonly what: string;
  readonly detail: string;
  readonly tone: Tone;
}

type Details = Readonly<Record<string, unknown>>;

const PHRASES: Readonly<Record<string, readonly [what: string, tone: Tone]>> = {
  created: ['Created', 'plain'],
  claimed: ['Claimed', 'active'],
  heartbeat: ['Heartbeat', 'plain'],
  progressed: ['Progress', 'active'],
  completed: ['Completed', 'good'],
  failed: ['Failed', 'bad'],
  lease_expired: ['Lease ran out', 'warn'],
  dead: ['Dead', 'bad'],
  escalated: ['Escalated to a person', 'warn'],
  redriven: ['Sent back', 'plain'],
  discarded: ['Discarded', 'plain'],
  cancelled: ['Cancelled', 'plain'],
  cancel_requested: ['Asked to stop', 'warn'],
  released: ['Given back', 'plain'],
  snoozed: ['Snoozed', 'plain'],
  edited: ['Changed', 'plain'],
  noted: ['Note written', 'plain'],
  unparked: ['Its turn has come', 'plain'],
  paused: ['Queue paused', 'warn'],
  resumed: ['Queue resumed', 'good'],
  configured: ['Queue settings changed', 'plain'],
  push_rested: ['Pushes rest', 'warn'],
  effect_started: ['Effect begun', 'plain'],
  effect_done: ['Effect done', 'good'],
  effect_settled: ['Effect settled', 'plain'],
  effect_uncertain: ['Effect uncertain', 'warn'],
};

export function describeEvent({ type, details }: Pick<BoardEvent, 'type' | 'details'>): Told {
  const [what, tone] = (Object.hasOwn(PHRASES, type) ? PHRASES[type] : undefined) ?? [
    words(type),
    'plain',
  ];
  const given: Details = isObject(details) ? details : {};
  const byPerson = type === 'claimed' && given['lane'] === 'human';
  return {
    what: byPerson ? 'Taken by a person' : what,
    detail: detailOf(type, given),
    tone,
  };
}

function isObject(value: unknown): value is Details {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function detailOf(type: string, given: Details): string {
  const parts =
    type === 'configured' || type === 'created'
      ? []
      : [
          number(given, 'attempt', 'attempt '),
          text(given, 'progress'),
          named(given, 'code'),
          named(given, 'reason'),
          text(given, 'question'),
          text(given, 'note'),
          text(given, 'owner', 'owner '),
          text(given, 'key'),
          named(given, 'state'),
          text(given, 'priority', 'priority '),
        ];
  return parts.filter((part) => part !== '').join(' · ');
}

function text(given: Details, name: string, before = ''): string {
  const value = given[name];
  return typeof value === 'string' && value !== '' ? before + value : '';
}

/** A name of ours is written as words; a reason that a person wrote has no underscores to lose. */
function named(given: Details, name: string): string {
  const value = text(given, name);
  return /^[a-z0-9_]+$/.test(value) ? words(value) : value;
}

function number(given: Details, name: string, before: string): string {
  const value = given[name];
  return typeof value === 'number' ? `${before}${value}` : '';
}
