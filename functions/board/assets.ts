import { LeaseholdError } from '../../shared/errors.ts';
import type { Route } from '../routes/route.ts';

/** What is served, and as what: no other name reaches the platform. */
const TYPES: Readonly<Record<string, string>> = {
  'board.js': 'text/javascript; charset=utf-8',
  'board.css': 'text/css; charset=utf-8',
};
/** Of the request, what the platform needs; and no cookie. */
const PASSED_HEADERS = ['if-none-match', 'accept-encoding'];
/** Of the platform's answer; the rest is decided here. */
const KEPT_HEADERS = ['etag', 'content-encoding', 'vary'];

/** Script and style of the board. A browser keeps them and asks each time whether they are still the ones. */
export const boardAsset: Route = {
  method: 'GET',
  path: '/board/assets/:name',
  access: { kind: 'public' },
  database: false,
  handle: async (context, { assets }) => {
    const name = context.req.param('name') ?? '';
    const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
    const found =
      type === undefined
        ? undefined
        : await assets?.fetch(name, picked(context.req.raw.headers, PASSED_HEADERS));
    if (type === undefined || (found?.status !== 200 && found?.status !== 304)) {
      throw new LeaseholdError('not_found', 'The board has no such file here.');
    }
    const headers = picked(found.headers, KEPT_HEADERS);
    headers.set('cache-control', 'no-cache');
    headers.set('cross-origin-resource-policy', 'same-origin');
    if (found.status === 200) headers.set('content-type', type);
    return new Response(found.body, { status: found.status, headers });
  },
};

function picked(headers: Headers, names: readonly string[]): Headers {
  return new Headers(
    names.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value] as [string, string]];
    }),
  );
}
