import { html } from 'hono/html';

import { LeaseholdError } from '../../shared/errors.ts';
import type { AppDeps } from '../deps.ts';
import type { Route, RouteContext } from '../routes/route.ts';
import { boardPage } from './page.ts';

/**
 * The page that the board is drawn in. It holds nothing of anybody's, so it is open: a link from elsewhere finds it, whose
 * request brings no cookie, and what the page asks for then does.
 */
export const boardHome: Route = {
  method: 'GET',
  path: '/board',
  access: { kind: 'public' },
  database: false,
  handle: shell,
};

/** The same for every address within the board: the script reads the path. */
export const boardPath: Route = { ...boardHome, path: '/board/*' };

function shell(context: RouteContext, { assets }: AppDeps): Response | Promise<Response> {
  if (assets === undefined) throw new LeaseholdError('not_found', 'This deployment has no board.');
  return boardPage(context, {
    title: 'Leasehold',
    head: html`<script type="module" src="/board/assets/board.js"></script>`,
    body: html`<div id="board"></div>
      <noscript><p>The board needs JavaScript.</p></noscript>`,
  });
}
