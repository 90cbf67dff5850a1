import { requireSameOrigin } from '../middleware/csrf.ts';
import type { Route } from '../routes/route.ts';
import { removeSession } from './session-cookies.ts';

/** Makes the browser forget the session. The token itself goes on counting to its end. */
export const signOut: Route = {
  method: 'POST',
  path: '/board/sign-out',
  access: { kind: 'public' },
  database: false,
  idempotencyKey: 'ignored',
  handle: (context) => {
    requireSameOrigin(context);
    removeSession(context);
    return context.redirect('/board/sign-in', 303);
  },
};
