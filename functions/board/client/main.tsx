import { render } from 'hono/jsx/dom';

import { App } from './app.tsx';

/** The board in a browser: one page, drawn here, that talks to the API under the cookie of its session. */
const root = document.getElementById('board');
if (root !== null) render(<App />, root);
