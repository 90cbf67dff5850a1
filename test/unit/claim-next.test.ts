import { describe, expect, test } from 'vitest';

import { claimNext } from '../../shared/claim-next.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import type { CompleteAndClaimOutcome } from '../../shared/queue/complete-and-claim.ts';
import type { CompleteInput } from '../../shared/queue/complete.ts';
import type { RunOperations } from '../../shared/run-operations.ts';
import { RecordingLog } from './support/recording-log.ts';

const REPORT: CompleteInput = { jobId: 'job', owner: 'worker', fencingToken: '1', result: 7 };
const AWAY = new LeaseholdError('database_unavailable', 'away');
const REFUSED = new LeaseholdError('invalid_request', 'no');

type Fused = CompleteAndClaimOutcome<string>;

/** A run's operations whose fused report answers, or throws, what is next in the list. */
function scripted(answers: readonly (Fused | Error)[], wanted: () => boolean = () => true) {
  const calls: ('fused' | 'alone')[] = [];
  const left = [...answers];
  const log = new RecordingLog();
  const fused = claimNext<string>({
    operations: {
      complete: async () => {
        calls.push('alone');
        return { outcome: 'succeeded', moreDue: true };
      },
    } as unknown as RunOperations,
    log,
    wanted,
    completeAndClaim: async () => {
      calls.push('fused');
      const answer = left.shift();
      if (answer === undefined || answer instanceof Error) throw answer ?? new Error('no answer');
      return answer;
    },
  });
  return { fused, calls, log, complete: () => fused.operations.complete(REPORT) };
}

describe('a report of success that may claim', () => {
  test('gives the outcome to the run, and the job to whoever asks for it', async () => {
    const { fused, calls, complete } = scripted([
      { outcome: 'succeeded', moreDue: false, next: 'next' },
    ]);
    expect(fused.taken()).toBeUndefined();
    expect(await complete()).toMatchObject({ outcome: 'succeeded', moreDue: false });
    expect(fused.taken()).toBe('next');
    expect(calls).toEqual(['fused']);
  });

  test('is made alone when no other job is wanted', async () => {
    const { fused, calls, complete } = scripted([], () => false);
    expect(await complete()).toEqual({ outcome: 'succeeded', moreDue: true });
    expect([calls, fused.taken()]).toEqual([['alone'], undefined]);
  });

  test('stays one that claims while it is repeated, whatever is wanted by then: the first try may have claimed', async () => {
    let asked = 0;
    const once = (): boolean => (asked += 1) === 1;
    const { fused, calls, complete } = scripted(
      [AWAY, AWAY, { outcome: 'cancelled', moreDue: false, next: 'next' }],
      once,
    );
    await expect(complete()).rejects.toBe(AWAY);
    await expect(complete()).rejects.toBe(AWAY);
    expect(await complete()).toMatchObject({ outcome: 'cancelled' });
    expect(calls).toEqual(['fused', 'fused', 'fused']);
    expect(fused.taken()).toBe('next');
  });

  test('takes nothing when the lease is lost', async () => {
    const { fused, calls, complete } = scripted([{ outcome: 'lease_lost' }]);
    expect(await complete()).toEqual({ outcome: 'lease_lost' });
    expect([calls, fused.taken()]).toEqual([['fused'], undefined]);
  });

  test('is made alone once it was refused, and stays so', async () => {
    const { fused, calls, log, complete } = scripted([REFUSED]);
    expect(await complete()).toEqual({ outcome: 'succeeded', moreDue: true });
    await complete();
    expect(calls).toEqual(['fused', 'alone', 'alone']);
    expect(fused.taken()).toBeUndefined();
    expect(log.events).toEqual(['claim_next_refused']);
  });
});
