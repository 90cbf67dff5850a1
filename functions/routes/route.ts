import type { Context } from 'hono';

import type { Scope } from '../../shared/scopes.ts';
import type { TraceContext } from '../../shared/trace-context.ts';
import type { AppDeps } from '../deps.ts';

/** Who may call a route. There is no default: a route that does not say is closed. */
export type Access =
  | { readonly kind: 'public' }
  | { readonly kind: 'token'; readonly scope: Scope }
  /** A token of any scope: what is done on its behalf asks for the scope of that. */
  | {
      readonly kind: 'any_token';
      /** Path of the document that tells clients where tokens come from; see `providerMetadata`. */
      readonly metadata?: string;
    }
  /** A signed poke, or a token with the scope. */
  | { readonly kind: 'poke_or_token'; readonly scope: Scope };

export interface RequestVariables {
  requestId: string;
  /** Local milliseconds when the request came. */
  startedAt: number;
  /** Who the credential says is calling: this, and nothing in a body, is the actor in the log. */
  actor: string;
  /** The only queues the credential is for; undefined: all. See `middleware/queue-access.ts`. */
  queues: ReadonlySet<string> | undefined;
  /** What the credential allows; none where it is no token. */
  scopes: ReadonlySet<string>;
  /** When the caller's token ends; undefined: the caller has none. */
  expiresAtMs: number | undefined;
  /** Pattern of the path, for the log: it holds no ids. */
  route: string | undefined;
  trace: TraceContext | undefined;
  /** The body, when something before the route had to read it. */
  bodyBytes: Uint8Array | undefined;
  /** Sends another request of the same caller through the whole app, as if it had come from outside. */
  callApp: (request: Request) => Promise<Response>;
}

export type AppEnv = { Variables: RequestVariables };
export type RouteContext = Context<AppEnv>;

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Hono path, `/v1/jobs/:id`. */
  readonly path: string;
  readonly access: Access;
  /** Whether it touches the database; then the schema is checked first. */
  readonly database: boolean;
  /** A POST whose repeats are no business of an `Idempotency-Key`. Default: the key is heeded on every POST. */
  readonly idempotencyKey?: 'ignored';
  handle(context: RouteContext, deps: AppDeps): Response | Promise<Response>;
}
