import type { createClient, LeaseholdClient } from '../../../shared/client/client.ts';
import type { Ledger } from './ledger.ts';

/** A release's own client, over whichever Worker; it repeats by itself, and what it took for "again" is counted. */
export function watchedClient(
  create: typeof createClient,
  token: string,
  url: () => string,
  ledger: Ledger,
): LeaseholdClient {
  return create({
    baseUrl: 'http://leasehold.invalid',
    token,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      try {
        const response = await fetch(new Request(`${url()}${pathname}${search}`, request));
        if (response.status === 503) ledger.retry('answer 503');
        else if (response.status === 500 && ledger.exchanging && pathname.endsWith('/complete')) {
          ledger.retry('a report that claims was refused while routines were exchanged');
        } else if (response.status >= 500) {
          ledger.fault(
            `${ledger.phase}: ${request.method} ${pathname} was answered with ${response.status}`,
          );
        }
        return response;
      } catch (error) {
        const { cause } = error as { readonly cause?: { readonly code?: string } };
        if (!request.signal.aborted) ledger.retry(`no answer, ${cause?.code ?? String(error)}`);
        throw error;
      }
    },
  });
}
