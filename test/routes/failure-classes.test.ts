import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { PermanentError, RetryAfter, Snooze, TransientError } from '../../shared/handler-errors.ts';
import { createScriptedWork } from './support/scripted-work.ts';
import type { ScriptedWork } from './support/scripted-work.ts';

let scripted: ScriptedWork;
beforeAll(async () => {
  scripted = await createScriptedWork();
});
afterAll(() => scripted.app.close());
beforeEach(() => scripted.reset());

/** Works until the job has ended, however long it would have to wait, and gives the outcomes. */
async function outcomes(): Promise<unknown[]> {
  const found: unknown[] = [];
  for (;;) {
    await scripted.app.database.pool.query(
      'update leasehold.job_state set due_at = clock_timestamp()',
    );
    const { outcome } = (await scripted.work()).body;
    found.push(outcome);
    if (outcome !== 'retrying' && outcome !== 'snoozed') return found;
  }
}

describe('S1.8 the class of a failure decides how often a job is tried', () => {
  test.each([
    ['nobody classed it: a small budget', new Error('x'), 3, 'unknown_failures_used_up'],
    ['transient: the full budget', new TransientError('away', 'x'), 5, 'attempts_used_up'],
    ['with a wish of the other side', new RetryAfter(1), 5, 'attempts_used_up'],
    ['permanent: dead at once', new PermanentError('declined', 'x'), 1, 'permanent_failure'],
  ])('%s', async (_name, thrown, attempts, reason) => {
    scripted.behaviours.set('fails', () => Promise.reject(thrown));
    const id = await scripted.enqueue('fails');
    const found = await outcomes();
    expect(found).toHaveLength(attempts);
    expect(found.at(-1)).toBe('dead');
    expect(await scripted.job(id)).toMatchObject({ state: 'dead', dead: { reason } });
  });

  test('snooze spends no attempt', async () => {
    let runs = 0;
    scripted.behaviours.set('waits', ({ attempt }) => {
      runs += 1;
      if (runs < 10) throw new Snooze(60, 'The shop is closed.');
      return { attempt };
    });
    const id = await scripted.enqueue('waits', { max_attempts: 2 });
    expect(await outcomes()).toEqual([...Array.from({ length: 9 }, () => 'snoozed'), 'succeeded']);
    expect(await scripted.job(id)).toMatchObject({ state: 'succeeded', result: { attempt: 1 } });
  });
});

test('a queue that has handlers here cannot be given away by its settings', async () => {
  for (const delivery of ['push', 'pull']) {
    const body = { delivery, target_url: 'https://hooks.example.com/' };
    const answer = await scripted.app.call('PUT', '/v1/queues/scripted', {
      body,
      scope: 'operate',
    });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ problems: [{ path: 'delivery' }] });
  }
  const answer = await scripted.app.call('PUT', '/v1/queues/scripted', {
    body: { delivery: 'handler' },
    scope: 'operate',
  });
  expect(answer.status).toBe(200);
});
