import { expect, test } from 'vitest';
import { z } from 'zod';

import { defineHandler } from '../../shared/handler.ts';
import type { Handler } from '../../shared/handler.ts';
import { handlerRegistry } from '../../shared/handler-registry.ts';
import { CLOUDFLARE_WORKERS, MAX_LAMBDA_SECONDS, awsLambda } from '../../shared/platform.ts';

function handler(fields: Partial<Handler> = {}): Handler {
  const plain = defineHandler({ queue: 'q', type: 't', schema: z.unknown(), run: () => undefined });
  return { ...plain, ...fields };
}

test('finds by queue and type, and knows which queues it serves', () => {
  const one = handler();
  const two = handler({ type: 'u' });
  const registry = handlerRegistry([one, two]);
  expect(registry.find('q', 'u')).toBe(two);
  expect(registry.find('other', 't')).toBeUndefined();
  expect(registry.find('q', 'toString')).toBeUndefined();
  expect([registry.serves('q'), registry.serves('other')]).toEqual([true, false]);
});

test('asks for the longest lease that a handler of the queue declares', () => {
  const registry = handlerRegistry([
    handler({ leaseSeconds: 10 }),
    handler({ type: 'u', leaseSeconds: 90 }),
  ]);
  expect(registry.leaseSeconds('q')).toBe(90);
  expect(handlerRegistry([handler({ leaseSeconds: 10 })]).leaseSeconds('q')).toBe(10);
});

test('knows the longest run that a handler of the queue declares', () => {
  const registry = handlerRegistry([
    handler({ maxRunSeconds: 9 }),
    handler({ type: 'u', maxRunSeconds: 25 }),
    handler({ type: 'v' }),
    handler({ queue: 'other' }),
  ]);
  expect(registry.maxRunSeconds('q')).toBe(25);
  expect(registry.maxRunSeconds('other')).toBeUndefined();
});

test.each<[string, Partial<Handler>[]]>([
  ['is defined twice', [{}, {}]],
  ['has a queue that', [{ queue: '..' }]],
  ['has a type that', [{ type: ' t' }]],
  ['has leaseSeconds that', [{ leaseSeconds: 3601 }]],
  ['has leaseSeconds that', [{ leaseSeconds: 0.5 }]],
  ['has stepSeconds that', [{ stepSeconds: 0 }]],
  ['has maxRunSeconds that', [{ maxRunSeconds: 86_401 }]],
])('refuses at load what %s', (fault, handlers) => {
  expect(() => handlerRegistry(handlers.map((fields) => handler(fields)))).toThrow(fault);
});

test.each([
  [CLOUDFLARE_WORKERS, 30],
  [awsLambda(MAX_LAMBDA_SECONDS), 900],
  [awsLambda(60), 60],
])('C.1 refuses at load what may run for longer than $name lets it', (platform, seconds) => {
  const most = handler({ maxRunSeconds: seconds });
  expect(handlerRegistry([most, handler({ type: 'u' })], platform).find('q', 't')).toBe(most);
  const longer = handler({ maxRunSeconds: seconds + 1 });
  expect(() => handlerRegistry([longer], platform)).toThrow(
    `has maxRunSeconds ${seconds + 1}, and a run on ${platform.name} ends after ${seconds} s: split the work into ` +
      'shorter jobs, or give the queue the delivery "push" or "pull"',
  );
});
