import { expect, test } from 'vitest';

import { csvReport } from '../../functions/handlers/csv-report.ts';
import type { HandlerContext } from '../../shared/handler.ts';
import { RecordingLog } from './support/recording-log.ts';

const JOB = {
  id: '01900000-0000-7000-8000-000000000001',
  queue: 'reports',
  type: 'report.csv',
  headers: {},
  schemaVersion: 1,
  attempt: 1,
  maxAttempts: 5,
  createdAt: new Date(0),
};

test('report.csv stops between chunks when it is told to', async () => {
  const rows = Array.from({ length: 250 }, (_, n) => ({ n }));
  const prepared = await csvReport.prepare({ rows });
  const stop = new AbortController();
  const markers: (string | number)[] = [];
  const context: HandlerContext = {
    signal: stop.signal,
    progress: (marker) => {
      markers.push(marker);
      if (markers.length === 2) stop.abort(new Error('lease lost'));
    },
    idempotencyKey: JOB.id,
    fencingToken: '1',
    attempt: 1,
    note: null,
    log: new RecordingLog(),
    lease: { jobId: JOB.id, owner: 'w', fencingToken: '1' },
    clock: { now: () => 0 },
    effect: () => Promise.reject(new Error('not used here')),
  };
  await expect(prepared.ok && prepared.run(JOB, context)).rejects.toThrow('lease lost');
  expect(markers).toEqual(['100 of 250 rows', '200 of 250 rows']);
});
