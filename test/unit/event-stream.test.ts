import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { EventStreamParser } from '../../shared/event-stream.ts';

describe('EventStreamParser', () => {
  test('reads messages, ids and retry times, and skips comments', () => {
    const parser = new EventStreamParser();
    expect(
      parser.push(':\n\nevent: change\nid: 1_j1\nretry: 20\ndata: {"a":\ndata: 1}\n\n'),
    ).toEqual([{ event: 'change', data: '{"a":\n1}' }]);
    expect([parser.lastEventId, parser.retryMs]).toEqual(['1_j1', 20]);
    // A heartbeat moves the place and dispatches nothing; an unfinished message moves nothing.
    expect(parser.push(':\nid: 1_j2\n\nid: 1_j3\ndata: x\n')).toEqual([]);
    expect(parser.lastEventId).toBe('1_j2');
    expect(parser.push('\n')).toEqual([{ event: 'message', data: 'x' }]);
    expect(parser.lastEventId).toBe('1_j3');
  });

  test('reads the same as another reader, wherever the text is cut', () => {
    const line = fc.constantFrom(
      'data: a',
      'data:b',
      'data',
      'event: e',
      'id: 7',
      'id',
      ': c',
      'retry: 5',
      'retry: x',
      'odd: 1',
      '',
    );
    const text = fc
      .array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 30 })
      .map((lines) => lines.flat().join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat(200), { maxLength: 5 }), (whole, cuts) => {
        const expected: { event: string; data: string }[] = [];
        const other = createParser({
          onEvent: ({ event = 'message', data }) => expected.push({ event, data }),
        });
        const closed = `${whole}\n\n`;
        other.feed(closed);
        const parser = new EventStreamParser();
        const at = [
          0,
          ...cuts.map((cut) => cut % closed.length).toSorted((a, b) => a - b),
          closed.length,
        ];
        const seen = at.slice(1).flatMap((end, i) => parser.push(closed.slice(at[i], end)));
        expect(seen).toEqual(expected);
      }),
    );
  });
});
