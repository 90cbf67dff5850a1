import { expect, test } from 'vitest';

import { askWake } from '../../functions/wake/ask-wake.ts';
import { webTimer } from '../../functions/web-ports.ts';
import { RecordingLog } from '../unit/support/recording-log.ts';

/** Asks a clock that fails so many times, and gives what it was asked for and what the log says. */
async function asked(failures: number): Promise<{ instants: number[]; log: RecordingLog }> {
  const instants: number[] = [];
  const log = new RecordingLog();
  const tasks: Promise<void>[] = [];
  const wakeAt = async (at: number): Promise<void> => {
    instants.push(at);
    if (instants.length <= failures) throw new Error('Its code was updated.');
  };
  askWake(
    {
      background: { run: (task) => void tasks.push(task()) },
      wake: { wakeAt },
      timer: webTimer,
      log,
    },
    [new Date(9000), new Date(7000)],
  );
  await Promise.all(tasks);
  return { instants, log };
}

test('the earliest instant is asked for, once', async () => {
  const { instants, log } = await asked(0);
  expect(instants).toEqual([7000]);
  expect(log.lines).toEqual([]);
});

test('B.1 a clock that fails once is asked again, so that a delayed job need not wait for the sweep', async () => {
  const { instants, log } = await asked(1);
  expect(instants).toEqual([7000, 7000]);
  expect(log.lines).toEqual([]);
});

test('one that fails again is a line in the log', async () => {
  const { instants, log } = await asked(2);
  expect(instants).toEqual([7000, 7000]);
  expect(log.lines).toMatchObject([{ event: 'wake_failed', fields: { reason: 'error' } }]);
});
