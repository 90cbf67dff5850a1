import type { Command } from 'commander';

import type { CappedCount } from '../../../shared/capped-count.ts';
import type { QueueOverview } from '../../../shared/queue/overview.ts';
import type { Cli, Register } from '../cli.ts';
import type { Column } from '../table.ts';
import { durationText } from '../time-text.ts';

/** Work that has been due for longer stands out. */
const LONG_WAIT_MS = 10 * 60 * 1000;

export const statusCommand: Register = (program, open) => {
  program
    .command('status')
    .description('how the queues fare, the one that waits longest first')
    .addHelpText(
      'after',
      `
Counts stop where counting on would cost too much, and then end in +. ENDED is of the last hour, good and failed attempts.

Example
  leasehold status --json | jq '.queues[] | select(.dead.count > 0) | .name'`,
    )
    .action(async (_: unknown, command: Command) => {
      const cli = open(command);
      const overview = await cli.client().queues.overview();
      cli.rows(overview, columns(cli), overview.queues, 'There is no queue.');
      if (overview.left_out > 0 && !cli.json) {
        cli.terminal.err(`${overview.left_out} more queues are not shown.\n`);
      }
    });
};

function columns({ terminal, paint }: Cli): readonly Column<QueueOverview>[] {
  const ageMs = ({ oldest_due_at: at }: QueueOverview): number =>
    at === null ? 0 : Math.max(0, terminal.now() - Date.parse(at));
  return [
    { title: 'QUEUE', value: ({ name }) => name, mayShrink: true },
    {
      title: 'STATE',
      value: ({ paused, resting_until }) =>
        paused === null ? (resting_until === null ? 'running' : 'resting') : 'paused',
      paint: (cell, { paused }) => (paused === null ? cell : paint(cell, 'yellow')),
    },
    {
      title: 'OLDEST DUE',
      value: (queue) => (queue.oldest_due_at === null ? null : durationText(ageMs(queue))),
      paint: (cell, queue) => (ageMs(queue) > LONG_WAIT_MS ? paint(cell, 'red') : cell),
    },
    { title: 'DUE', value: ({ due }) => countText(due) },
    { title: 'RUNNING', value: ({ running }) => countText(running) },
    { title: 'DELAYED', value: ({ delayed }) => countText(delayed) },
    { title: 'PARKED', value: ({ parked }) => countText(parked) },
    {
      title: 'DEAD',
      value: ({ dead }) => countText(dead),
      paint: (cell, { dead }) => (dead.count > 0 ? paint(cell, 'red') : cell),
    },
    {
      title: 'ESCALATED',
      value: ({ escalated }) => countText(escalated),
      paint: (cell, { escalated }) => (escalated.count > 0 ? paint(cell, 'yellow') : cell),
    },
    {
      title: 'ENDED',
      value: ({ series: { succeeded, failed } }) => `${sum(succeeded)} / ${sum(failed)}`,
    },
  ];
}

function countText({ count, capped }: CappedCount): string {
  return capped ? `${count}+` : String(count);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
