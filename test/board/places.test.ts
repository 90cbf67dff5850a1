import { describe, expect, test } from 'vitest';
import { cookieValue, createApi, type ApiPorts } from '../../functions/board/client/api.ts';
import { describe as describeFault, Problem } from '../../functions/board/client/problem.ts';
import { jobPath, pathTo, placeOf, queuePath } from '../../functions/board/client/router.ts';
import { rowAfterKey, rowWindow } from '../../functions/board/client/virtual.ts';

describe('addresses of the board', () => {
  test.each([
    ['/board', '', { page: 'overview', query: {} }],
    ['/board/', '', { page: 'overview', query: {} }],
    ['/board/jobs', '?state=dead', { page: 'jobs', query: { state: 'dead' } }],
    ['/board/jobs/abc', '', { page: 'job', id: 'abc', query: {} }],
    ['/board/queues/a%2Fb%20c', '', { page: 'queue', id: 'a/b c', query: {} }],
    ['/board/overview', '', { page: 'unknown', query: {} }],
    ['/board/elsewhere', '', { page: 'unknown', query: {} }],
    ['/board/jobs/a/b', '', { page: 'unknown', query: {} }],
    ['/board/queues/%E0%A4%A', '', { page: 'queue', id: '%E0%A4%A', query: {} }],
  ])('%s%s', (path, search, place) => {
    expect(placeOf(path, search)).toEqual(place);
  });

  test('lead back to where they came from', () => {
    const path = (text: string): ReturnType<typeof placeOf> => {
      const url = new URL(text, 'http://board.test');
      return placeOf(url.pathname, url.search);
    };
    expect(path(queuePath('a/b?c'))).toMatchObject({ page: 'queue', id: 'a/b?c' });
    expect(path(jobPath('x'))).toMatchObject({ page: 'job', id: 'x' });
    expect(pathTo('overview')).toBe('/board');
    expect(path(pathTo('jobs', { queue: 'a&b', state: '', tag: undefined }))).toEqual({
      page: 'jobs',
      query: { queue: 'a&b' },
    });
  });
});

describe('the rows of a long list that are drawn', () => {
  const view = { rows: 10_000, rowHeight: 40, height: 800, extra: 5 };
  test('are those in sight and a few around them', () => {
    expect(rowWindow({ ...view, scrolled: -200 })).toEqual({ first: 0, end: 25 });
    expect(rowWindow({ ...view, scrolled: 4000 })).toEqual({ first: 95, end: 125 });
    expect(rowWindow({ ...view, scrolled: 400_000 })).toEqual({ first: 9995, end: 10_000 });
    expect(rowWindow({ ...view, rows: 0, scrolled: 0 })).toEqual({ first: 0, end: 0 });
  });

  test.each([
    ['ArrowDown', 4],
    ['j', 4],
    ['k', 2],
    ['PageDown', 9],
    ['PageUp', 0],
    ['Home', 0],
    ['End', 9],
    ['x', undefined],
    ['toString', undefined],
  ])('%s leads from the fourth of ten to %s', (key, row) => {
    expect(rowAfterKey(key, 3, 10, 20)).toBe(row);
  });
});

describe('calls to the server', () => {
  const api = (answer: Response | Error, more: Partial<ApiPorts> = {}) => {
    const sent: RequestInit[] = [];
    const made = createApi({
      fetch: (_path, init) => {
        sent.push(init);
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
      cookies: () => 'theme=dark; leasehold_csrf=a%3Db',
      signedOut: () => undefined,
      ...more,
    });
    return { ...made, sent };
  };

  test('carry the twin of the session cookie when they change anything', async () => {
    const { send, get, sent } = api(Response.json({ done: true }));
    expect(await send('POST', '/v1/x', { a: 1 })).toEqual({ done: true });
    expect(sent[0]?.headers).toMatchObject({ 'x-csrf-token': 'a=b' });
    await get('/v1/x').catch(() => undefined);
    expect(sent[1]?.headers).not.toHaveProperty('x-csrf-token');
  });

  test('a problem is told in its own words, with its remedy and its fields', async () => {
    const problem = {
      code: 'invalid_request',
      detail: 'The request breaks a rule.',
      remedy: 'Read the rule.',
      problems: [{ path: 'reason', message: 'is required' }],
    };
    const { send } = api(Response.json(problem, { status: 400 }));
    const fault: unknown = await send('POST', '/v1/x', {}).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(Problem);
    expect(describeFault(fault)).toEqual({
      what: 'The request breaks a rule. reason is required.',
      remedy: 'Read the rule.',
    });
  });

  test('an end of the session is told, and a dead line is not a fault of the page', async () => {
    let out = 0;
    const ended = api(new Response('', { status: 401 }), { signedOut: () => void (out += 1) });
    await ended.get('/v1/x').catch(() => undefined);
    expect(out).toBe(1);
    const down: unknown = await api(new TypeError('failed to fetch'))
      .get('/v1/x')
      .catch((error: unknown) => error);
    expect(describeFault(down).what).toBe('The server cannot be reached.');
    expect(describeFault(new RangeError('x')).what).toContain('fault of its own');
  });

  test('cookies are told apart by their whole names', () => {
    expect(cookieValue('xleasehold_csrf=1; leasehold_csrf=2', 'leasehold_csrf')).toBe('2');
    expect(cookieValue('', 'leasehold_csrf')).toBeUndefined();
  });
});
