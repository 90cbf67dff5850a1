import { expect, test } from 'vitest';

import { LeaseholdError } from '../../shared/errors.ts';
import { AskPerson } from '../../shared/handler-errors.ts';
import { MAX_NOTE_CHARS } from '../../shared/limits.ts';
import { JOB_ID, scriptedRun } from './support/scripted-run.ts';

const ask = (question: string) => () => {
  throw new AskPerson(question);
};

test('a handler that asks a person ends its attempt with the question, and fails nothing', async () => {
  const run = scriptedRun();
  expect(await run.start(ask('Which one?'))).toEqual({
    outcome: 'escalated',
    code: 'asked_for_human',
    moreDue: false,
  });
  expect(run.calls.escalate).toEqual([
    { jobId: JOB_ID, owner: 'worker-1', fencingToken: '7', question: 'Which one?' },
  ]);
  expect(run.calls.fail).toEqual([]);
});

test('a question is cut to what can be stored, and never empty', async () => {
  const run = scriptedRun();
  await run.start(ask(`a\u0000${'b'.repeat(2 * MAX_NOTE_CHARS)}`));
  await run.start(ask(''));
  const [long, empty] = run.calls.escalate.map(({ question }) => question);
  expect(long?.length).toBeLessThanOrEqual(MAX_NOTE_CHARS);
  expect(long).not.toContain('\u0000');
  expect(empty).not.toBe('');
});

test('the report answers like any other: cancelled, lease lost, unknown', async () => {
  const run = scriptedRun();
  run.script.escalate = async () => ({ outcome: 'cancelled', moreDue: true });
  expect(await run.start(ask('x'))).toEqual({ outcome: 'cancelled', moreDue: true });
  run.script.escalate = async () => ({ outcome: 'lease_lost' });
  expect(await run.start(ask('x'))).toEqual({ outcome: 'lease_lost' });
  run.script.escalate = async () => {
    throw new LeaseholdError('database_unavailable', 'x');
  };
  const ended = run.start(ask('x'));
  await run.time.advance(60_000);
  expect(await ended).toEqual({ outcome: 'unknown' });
});
