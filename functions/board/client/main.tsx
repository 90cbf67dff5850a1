import { render } from 'hono/jsx/dom';

import { App } from './app.tsx';
import { createBoard } from './board-state.ts';
import { goToSignIn, readSession } from './session.ts';

/** The board in a browser: one page, drawn here, that talks to the API under the cookie of its session. */
const root = document.getElementById('board');
if (root !== null) {
  const session = await readSession();
  render(<App board={createBoard(session, goToSignIn)} />, root);
}
