import type { LogEvent } from '../../shared/queue/log-event.ts';
import type { Paint } from './paint.ts';
import { paintEvent } from './paint.ts';
import { printable } from './printable.ts';
import type { Column } from './table.ts';

const TYPE_CHARS = 16;

/** How the history of a job shows an event. */
export function eventColumns(paint: Paint): readonly Column<LogEvent>[] {
  return [
    { title: 'AT', value: ({ at }) => at },
    {
      title: 'EVENT',
      value: ({ type }) => type,
      paint: (cell, { type }) => paintEvent(paint, type, cell),
    },
    { title: 'BY', value: ({ actor }) => actor, mayShrink: true },
    { title: 'TOKEN', value: ({ fencing_token }) => fencing_token },
    { title: 'DETAILS', value: ({ details }) => detailsText(details), mayShrink: true },
  ];
}

/** The same for events of many jobs and queues. */
export function feedColumns(paint: Paint): readonly Column<LogEvent>[] {
  const [at, event, ...rest] = eventColumns(paint);
  return [
    ...(at === undefined || event === undefined ? [] : [at, event]),
    { title: 'QUEUE', value: ({ queue }) => queue, mayShrink: true },
    { title: 'TYPE', value: ({ job_type }) => job_type, mayShrink: true },
    { title: 'JOB', value: ({ job_id }) => job_id },
    ...rest,
  ];
}

/** An event as it happens: one line, whose width nobody knows beforehand. */
export function eventLine(paint: Paint, event: LogEvent): string {
  const type = paintEvent(paint, event.type, printable(event.type).padEnd(TYPE_CHARS));
  const about = [event.queue, event.job_type, event.job_id].filter((part) => part !== null);
  const details = detailsText(event.details);
  const line = [
    paint(event.at, 'gray'),
    type,
    printable(about.join('  ')),
    paint(`by ${printable(event.actor)}`, 'gray'),
    ...(details === null ? [] : [printable(details)]),
  ];
  return `${line.join('  ')}\n`;
}

/** `code=timeout retry_at=…`: what is null says nothing. */
function detailsText(details: LogEvent['details']): string | null {
  if (details === null || typeof details !== 'object' || Array.isArray(details)) {
    return details === null ? null : JSON.stringify(details);
  }
  const parts = Object.entries(details)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return parts.length === 0 ? null : parts.join(' ');
}
