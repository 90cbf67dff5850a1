import { credentialOf, csrfBinding } from '../middleware/credential.ts';
import type { Route } from '../routes/route.ts';
import { setCsrfCookie } from './session-cookies.ts';

/** Who is signed in, for the pages of the board; 401 when nobody is. */
export const readSession: Route = {
  method: 'GET',
  path: '/board/session',
  access: { kind: 'any_token' },
  database: false,
  handle: async (context, deps) => {
    const expiresAtMs = context.get('expiresAtMs') ?? deps.clock.now();
    const credential = credentialOf(context, deps.config);
    if (credential !== undefined && credential.from !== 'header') {
      const binding = csrfBinding(credential, context.get('actor'));
      await setCsrfCookie(context, deps, binding, expiresAtMs);
    }
    const queues = context.get('queues');
    return context.json({
      actor: context.get('actor'),
      scopes: [...context.get('scopes')],
      queues: queues === undefined ? null : [...queues],
      expires_at: new Date(expiresAtMs).toISOString(),
    });
  },
};
