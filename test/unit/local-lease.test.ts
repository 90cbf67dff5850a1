import { expect, test } from 'vitest';

import { LocalLease } from '../../shared/local-lease.ts';

test('errs early: counted from the sending, minus a margin', () => {
  const lease = new LocalLease(1000, 30_000);
  expect(lease.nextBeatAt).toBe(11_000);
  expect(lease.stopAt).toBe(30_000);
  lease.renew(11_000, 30_000);
  expect(lease.nextBeatAt).toBe(21_000);
  expect(lease.stopAt).toBe(40_000);
});

test('a short lease has a short margin, and beats that do not spin', () => {
  const lease = new LocalLease(0, 300);
  expect(lease.stopAt).toBe(270);
  expect(lease.beatInterval).toBe(200);
});
