import { html, raw } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';

import type { RouteContext } from '../routes/route.ts';

/** Only files of this origin are loaded, no text is ever run, and no other site may show the page in a frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

type Html = ReturnType<typeof html>;

/** A page of the board, with the headers that every one of them has. */
export function boardPage(
  context: RouteContext,
  page: { readonly title: string; readonly head?: Html; readonly body: Html },
  status: ContentfulStatusCode = 200,
): Response | Promise<Response> {
  context.header('content-security-policy', POLICY);
  context.header('referrer-policy', 'same-origin');
  context.header('cross-origin-opener-policy', 'same-origin');
  context.header('cross-origin-resource-policy', 'same-origin');
  return context.html(
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <title>${page.title}</title>
          <link rel="icon" href="data:," />
          <link rel="stylesheet" href="/board/assets/board.css" />
          ${page.head ?? raw('')}
        </head>
        <body>
          ${page.body}
        </body>
      </html> `,
    status,
  );
}
