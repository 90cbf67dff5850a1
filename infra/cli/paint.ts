import { styleText } from 'node:util';

export type Paint = (text: string, colour: Colour) => string;
export type Colour = 'red' | 'yellow' | 'green' | 'cyan' | 'gray' | 'bold';

/** Colours text, or leaves it alone. */
export function painter(colours: boolean): Paint {
  if (!colours) return (text) => text;
  return (text, colour) => styleText(colour, text, { validateStream: false });
}

const STATE_COLOURS: Readonly<Record<string, Colour>> = {
  running: 'cyan',
  succeeded: 'green',
  dead: 'red',
  escalated: 'yellow',
  cancelled: 'gray',
  ok: 'green',
  warn: 'yellow',
  fail: 'red',
  skipped: 'gray',
};

/** A state in its colour; one that this version does not know stays plain. */
export function paintState(paint: Paint, state: string, text: string = state): string {
  const colour = STATE_COLOURS[state];
  return colour === undefined ? text : paint(text, colour);
}

const EVENT_COLOURS: Readonly<Record<string, Colour>> = {
  claimed: 'cyan',
  completed: 'green',
  failed: 'yellow',
  lease_expired: 'yellow',
  dead: 'red',
  escalated: 'yellow',
  paused: 'yellow',
};

/** A type of event in the colour of what it leads to. */
export function paintEvent(paint: Paint, type: string, text: string): string {
  const colour = EVENT_COLOURS[type];
  return colour === undefined ? text : paint(text, colour);
}
