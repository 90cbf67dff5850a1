import { openapiDocument } from '../../shared/openapi/document.ts';
import { openapiPage } from '../../shared/openapi/page.ts';
import { PAGE_STYLE } from '../../shared/openapi/page-style.ts';
import { PROBLEMS } from '../middleware/problem.ts';
import type { Route } from './route.ts';

/** The contract for programs. It holds nothing that a caller may not know, and touches no database. */
export const openapi: Route = {
  method: 'GET',
  path: '/openapi.json',
  access: { kind: 'public' },
  database: false,
  handle: (context, { contract }) => {
    contract.document ??= JSON.stringify(openapiDocument(PROBLEMS));
    return context.body(contract.document, 200, { 'content-type': 'application/json' });
  },
};

/** The same for people: one static page that loads nothing and runs nothing. */
export const docs: Route = {
  method: 'GET',
  path: '/docs',
  access: { kind: 'public' },
  database: false,
  handle: async (context, { contract }) => {
    context.header('content-security-policy', await policy());
    context.header('referrer-policy', 'no-referrer');
    contract.page ??= openapiPage(openapiDocument(PROBLEMS));
    return context.html(contract.page);
  },
};

/** The one style element of the page is named by its hash; all else is forbidden, framing included. */
async function policy(): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(PAGE_STYLE));
  const hash = btoa(String.fromCodePoint(...new Uint8Array(digest)));
  return [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
