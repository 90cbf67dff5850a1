import { createApp } from '../../../functions/app.ts';
import { createClient } from '../../../shared/client/client.ts';
import type { ClientOptions, LeaseholdClient } from '../../../shared/client/client.ts';
import { SCOPES } from '../../../shared/scopes.ts';
import { createAppHarness, signToken } from '../../routes/support/app-harness.ts';
import type { AppHarness } from '../../routes/support/app-harness.ts';

/** A request as it went out. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  readonly body: string;
}

/** What may befall a request on its way. `lost`: the service did it all, and its answer went missing. */
export type Mishap = 'lost' | 'refused' | (() => Response);

/** The client against the real app in this process, over a wire that a test can cut. */
export interface ClientHarness {
  readonly app: AppHarness;
  readonly client: LeaseholdClient;
  /** Every try, in order. */
  readonly sent: SentRequest[];
  /** What befalls the next requests whose path ends so. */
  befall(pathEnd: string, ...mishaps: readonly Mishap[]): void;
  /** The wire itself. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Another client on the same wire. */
  clientWith(options?: Partial<ClientOptions>): LeaseholdClient;
  close(): Promise<void>;
}

export async function createClientHarness(): Promise<ClientHarness> {
  const app = await createAppHarness();
  const token = await signToken(SCOPES.join(' '));
  const sent: SentRequest[] = [];
  const mishaps: { readonly pathEnd: string; readonly mishap: Mishap }[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    sent.push({
      method: request.method,
      path: pathname,
      key: request.headers.get('idempotency-key'),
      body: await request.clone().text(),
    });
    const at = mishaps.findIndex(({ pathEnd }) => pathname.endsWith(pathEnd));
    const [hit] = at === -1 ? [] : mishaps.splice(at, 1);
    if (typeof hit?.mishap === 'function') return hit.mishap();
    if (hit?.mishap === 'refused') throw new TypeError('connection refused');
    const response = await createApp(app.deps()).fetch(request);
    if (hit?.mishap === 'lost') throw new TypeError('connection reset');
    return response;
  };
  const clientWith: ClientHarness['clientWith'] = (options = {}) =>
    createClient({
      baseUrl: 'https://leasehold.test/',
      token,
      fetch,
      ...options,
      // Nothing but what the service asks for is waited between two tries.
      ports: { random: { next: () => 0 }, ...options.ports },
    });
  return {
    app,
    client: clientWith(),
    sent,
    fetch,
    befall: (pathEnd, ...several) => {
      mishaps.push(...several.map((mishap) => ({ pathEnd, mishap })));
    },
    clientWith,
    close: () => app.close(),
  };
}
