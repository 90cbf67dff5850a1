import { describe, expect, test } from 'vitest';
import type { Poke } from '../../shared/ports.ts';
import type { EnqueuedJob } from '../../shared/queue/enqueued-job.ts';
import { pokesAfterCommit } from '../../shared/transaction/pokes-after-commit.ts';

describe('pokes after the commit', () => {
  test('one a queue, and only when told that the commit is done', async () => {
    const { sent, pokes } = recorded();
    pokes.add([job('a'), job('b')]);
    pokes.add([job('a')]);
    expect(sent).toEqual([]);
    await pokes.committed();
    expect(sent).toEqual([
      { queue: 'a', depth: 0 },
      { queue: 'b', depth: 0 },
    ]);
    await pokes.committed();
    expect(sent).toHaveLength(2);
  });

  test('one for the relay, however many events', async () => {
    const { sent, pokes } = recorded();
    const event = { outcome: 'appended', eventId: 'e', version: 1, createdAt: new Date() } as const;
    pokes.addEvents([]);
    await pokes.committed();
    expect(sent).toEqual([]);
    pokes.addEvents([event]);
    pokes.addEvents([event, event]);
    await pokes.committed();
    await pokes.committed();
    expect(sent).toEqual([{ queue: 'outbox', depth: 0, relay: true }]);
  });

  test('also for a job that is due later: the poke finds nothing and sets the wake clock', async () => {
    const { sent, pokes } = recorded();
    pokes.add([job('later', 1_000), job('now', 1)]);
    await pokes.committed();
    expect(sent.map(({ queue }) => queue)).toEqual(['later', 'now']);
  });

  test('a poke that fails does not make a committed transaction look failed', async () => {
    const queues: string[] = [];
    const pokes = pokesAfterCommit({
      send: async ({ queue }) => {
        queues.push(queue);
        throw new Error('unreachable');
      },
    });
    pokes.add([job('a'), job('b')]);
    await pokes.committed();
    expect(queues).toEqual(['a', 'b']);
  });
});

function recorded(): { sent: Poke[]; pokes: ReturnType<typeof pokesAfterCommit> } {
  const sent: Poke[] = [];
  const pokes = pokesAfterCommit({
    send: async (poke) => {
      sent.push(poke);
      return 'taken';
    },
  });
  return { sent, pokes };
}

function job(queue: string, delayMs = 0): EnqueuedJob {
  const createdAt = new Date('2026-11-30T08:00:00Z');
  return {
    jobId: '0193a1b2-c3d4-7e5f-8a6b-0123456789ab',
    outcome: 'created',
    queue,
    type: 't',
    priority: 'normal',
    maxAttempts: 5,
    dueAt: new Date(createdAt.getTime() + delayMs),
    createdAt,
  };
}
