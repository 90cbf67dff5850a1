import { describe, expect, test } from 'vitest';
import { enqueueStatement, readEnqueued } from '../../shared/transaction/enqueue-in-transaction.ts';

const ID = '0193a1b2-c3d4-7e5f-8a6b-0123456789ab';
const JOB = {
  jobId: ID,
  outcome: 'created',
  queue: 'emails',
  type: 'email.send',
  priority: 'normal',
  maxAttempts: 5,
  dueAt: new Date('2026-11-30T08:00:00.123Z'),
  createdAt: new Date('2026-11-30T08:00:00.000Z'),
};
const ROW = {
  job_id: ID,
  outcome: 'created',
  queue: 'emails',
  type: 'email.send',
  priority: 'normal',
  max_attempts: 5,
  due_at: JOB.dueAt,
  created_at: JOB.createdAt,
};

describe('the answer of a driver', () => {
  test.each<[string, unknown]>([
    ['rows', [ROW]],
    ['an object with rows', { rows: [ROW], rowCount: 1 }],
    ['lists', [Object.values(ROW)]],
    ['numbers as text', [{ ...ROW, max_attempts: '5' }]],
    ['a big integer', [{ ...ROW, max_attempts: 5n }]],
    ['camel case', [{ ...ROW, jobId: ID, dueAt: ROW.due_at, maxAttempts: 5 }]],
    [
      'kebab case',
      [Object.fromEntries(Object.entries(ROW).map(([k, v]) => [k.replace('_', '-'), v]))],
    ],
  ])('is read as %s', (_form, result) => {
    expect(readEnqueued(result)).toEqual([JOB]);
  });

  test.each([
    '2026-11-30 08:00:00.123456+00',
    '2026-11-30 08:00:00.123+00:00',
    '2026-11-30T08:00:00.1234Z',
    '2026-11-30 13:30:00.123456+05:30',
    '2026-11-30 13:30:00.123+0530',
    '2026-11-30 00:00:00.123-08',
  ])('a time may be the text %s', (text) => {
    const [job] = readEnqueued([{ ...ROW, due_at: text }]);
    expect(job?.dueAt).toEqual(JOB.dueAt);
  });

  test.each<[string, unknown]>([
    ['no rows', undefined],
    ['no rows', { rowCount: 1 }],
    ['a row that is not a row', [7]],
    ['a row whose due_at is not a time', [{ ...ROW, due_at: 'Mon Nov 30 08:00:00 2026' }]],
    ['a row whose due_at is not a time', [{ ...ROW, due_at: new Date(NaN) }]],
    ['a row whose max_attempts is not an integer', [{ ...ROW, max_attempts: 'x' }]],
    ['a row whose job_id is not text', [{ n: 1 }]],
    ['an unknown outcome', [{ ...ROW, outcome: 'lost' }]],
  ])('%s is refused', (message, result) => {
    expect(() => readEnqueued(result)).toThrow(message);
  });
});

test('case K5 the statement has its values as text, each used once and in order', () => {
  const { text, values } = enqueueStatement(
    [{ id: ID, queue: 'q', type: 't', payload: ['a', []], tags: ['x'] }],
    { actor: 'shop' },
  );
  expect(text.match(/\$\d+/g)).toEqual(['$1', '$2']);
  expect(values).toEqual([
    `[{"id":"${ID}","queue":"q","type":"t","payload":["a",[]],"tags":["x"]}]`,
    'shop',
  ]);
});
