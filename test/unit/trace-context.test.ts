import { expect, test } from 'vitest';

import { readTraceContext } from '../../shared/trace-context.ts';

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

test('keeps both headers', () => {
  expect(readTraceContext(PARENT, 'vendor=1')).toEqual({
    traceparent: PARENT,
    tracestate: 'vendor=1',
  });
});

test('of a later version the four known fields are kept', () => {
  expect(readTraceContext(`${PARENT.replace('00-', '01-')}-more`, undefined)).toEqual({
    traceparent: PARENT.replace('00-', '01-'),
  });
});

test('a state that cannot be stored is dropped alone', () => {
  expect(readTraceContext(PARENT, 'x'.repeat(513))).toEqual({ traceparent: PARENT });
});

test.each([
  undefined,
  '',
  'nonsense',
  PARENT.toUpperCase(),
  `${PARENT}-more`,
  PARENT.replace('00-', 'ff-'),
  `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
  `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`,
])('%s is no trace', (parent) => {
  expect(readTraceContext(parent, 'vendor=1')).toBeUndefined();
});
