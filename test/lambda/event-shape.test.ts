/** Events of AWS as its documentation shows them: each is what it is, and no wake-up is ever taken for a request. */
import { describe, expect, test } from 'vitest';
import { drainEventOf, pokeEventOf, readEvent } from '../../functions/lambda/event-shape.ts';
import { isRequest, plainHttpEvent } from '../../functions/lambda/http-event.ts';
import { apiGatewayEvent, functionUrlEvent } from './support/http-events.ts';
import type { HttpCall } from './support/http-events.ts';

/** A rule on an event bus, or a schedule of EventBridge without an input of its own. */
const SCHEDULED = {
  version: '0',
  id: '53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa',
  'detail-type': 'Scheduled Event',
  source: 'aws.events',
  account: '123456789012',
  time: '2026-12-01T12:00:00Z',
  region: 'eu-west-1',
  resources: ['arn:aws:events:eu-west-1:123456789012:rule/leasehold'],
  detail: {},
};

describe('C.1 events are told apart by their shape', () => {
  test.each([
    ['a function URL', functionUrlEvent({ method: 'GET', path: '/v1/health' })],
    ['an HTTP API', apiGatewayEvent({ method: 'POST', path: '/v1/jobs', body: '{}' }, '$default')],
    ['a stage of an HTTP API', apiGatewayEvent({ method: 'GET', path: '/v1/jobs' }, 'production')],
  ])('%s sends a request', (_name, event) => {
    expect(readEvent(event).kind).toBe('http');
  });

  test.each([
    ['the schedules of the stack', drainEventOf()],
    ['a rule on an event bus', SCHEDULED],
    ['a schedule without an input', { ...SCHEDULED, source: 'aws.scheduler', detail: '{}' }],
  ])('%s ask for the drain', (_name, event) => {
    expect(readEvent(event)).toEqual({ kind: 'drain' });
  });

  test('a poke keeps its queue, its depth and who sent it', () => {
    const poke = { queue: 'emails', depth: 3, drain: true };
    expect(readEvent(pokeEventOf(poke))).toEqual({ kind: 'poke', poke });
    expect(readEvent(pokeEventOf({ queue: 'emails', depth: 0 }))).toEqual({
      kind: 'poke',
      poke: { queue: 'emails', depth: 0, drain: false },
    });
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'leasehold'],
    ['a list', []],
    ['an empty object', {}],
    ['a message of SQS', { Records: [{ messageId: '1', body: '{}', eventSource: 'aws:sqs' }] }],
    ['another event of a bus', { ...SCHEDULED, 'detail-type': 'Object Created', source: 'aws.s3' }],
    ['a REST API (payload format 1.0)', { version: '1.0', httpMethod: 'GET', path: '/v1/health' }],
    ['a load balancer', { httpMethod: 'GET', path: '/', requestContext: { elb: {} } }],
    ['a poke too deep', { leasehold: 'poke', queue: 'q', depth: 9 }],
    ['a poke without a queue', { leasehold: 'poke', depth: 0 }],
    ['a wish that is not known', { leasehold: 'dance' }],
  ])('%s is not served', (_name, event) => {
    expect(readEvent(event)).toEqual({ kind: 'unknown' });
  });
});

describe('C.1 a request comes as it was sent', () => {
  const pathOf = (event: unknown): string => {
    const read = readEvent(event);
    return read.kind === 'http' ? plainHttpEvent(read.event).rawPath : read.kind;
  };
  const call: HttpCall = { method: 'GET', path: '/v1/queues/a%20b%2Fc' };

  test.each([
    ['a function URL leaves the path encoded', functionUrlEvent(call), '/v1/queues/a%20b%2Fc'],
    [
      'an HTTP API decodes it: what cannot be in a path is encoded again',
      apiGatewayEvent({ method: 'GET', path: '/v1/queues/a%20b%3F%23%C3%A9' }, '$default'),
      '/v1/queues/a%20b%3F%23%C3%A9',
    ],
    [
      'a stage is not part of the path',
      apiGatewayEvent({ method: 'GET', path: '/v1/jobs' }, 'production'),
      '/v1/jobs',
    ],
    ['nor when it is all there is', apiGatewayEvent({ method: 'GET', path: '' }, 'v1'), '/'],
    [
      'a path that begins like the stage stays',
      functionUrlEvent({ method: 'GET', path: '/v1/health' }),
      '/v1/health',
    ],
    [
      'a percent sign that encodes nothing is one',
      { ...functionUrlEvent(call), rawPath: '/v1/queues/100%' },
      '/v1/queues/100%25',
    ],
  ])('%s', (_name, event, path) => {
    expect(pathOf(event)).toBe(path);
  });

  test('a GET has no body, whatever was sent with it', () => {
    const read = readEvent(functionUrlEvent({ method: 'GET', path: '/', body: '{}' }));
    expect(read).toMatchObject({ kind: 'http', event: { body: expect.any(String) as unknown } });
    expect(read.kind === 'http' && plainHttpEvent(read.event).body).toBeNull();
  });

  test.each([
    ['GET', true],
    ['PATCH', true],
    ['TRACE', false],
    ['CONNECT', false],
    ['NOT A METHOD', false],
  ])('%s can be made a request: %s', (method, can) => {
    const read = readEvent(functionUrlEvent({ method, path: '/v1/health' }));
    expect(read.kind === 'http' && isRequest(read.event)).toBe(can);
  });
});
