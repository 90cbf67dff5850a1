import { lookup } from 'node:dns/promises';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';

import type { Outbound } from '../../shared/ports.ts';

/** Statuses whose answers have no body, and for which `Response` refuses one. */
const WITHOUT_BODY = new Set([101, 204, 205, 304]);

/**
 * Outbound requests of a runtime that looks names up. What was looked up and checked is what is connected to: between a
 * look-up and a connection of its own, `fetch` would ask again, and a name whose owner changes its answer in that moment
 * (rebinding) would lead into a private network. The certificate is still that of the name. Redirects are not followed.
 */
export const nodeOutbound: Outbound = {
  lookup: async (host) => {
    const found = await lookup(host.replace(/^\[|\]$/g, ''), { all: true });
    return found.map(({ address }) => address);
  },
  fetch: async (request, { addresses } = {}) => {
    const url = new URL(request.url);
    const body = Buffer.from(await request.arrayBuffer());
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const options: RequestOptions = {
      method: request.method,
      headers: { ...Object.fromEntries(request.headers), 'content-length': body.byteLength },
      signal: request.signal,
      agent: false, // a kept connection could be one to another address
      ...(addresses === undefined ? {} : { lookup: answering(addresses) }),
    };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      send(url, options, resolve)
        .once('error', (cause) => reject(new TypeError('The request failed.', { cause })))
        .end(body);
    });
    return responseOf(answer);
  },
};

/** Instead of the resolver: what it has answered already. */
function answering(addresses: readonly string[]): LookupFunction {
  const known = addresses.map((address) => ({ address, family: isIP(address) }));
  return (host, { all }, done) => {
    const [first] = known;
    if (first === undefined) {
      done(Object.assign(new Error(`No address of ${host} is known.`), { code: 'ENOTFOUND' }), '');
    } else if (all === true) {
      done(null, known);
    } else {
      done(null, first.address, first.family);
    }
  };
}

function responseOf(answer: IncomingMessage): Response {
  const status = answer.statusCode ?? 0;
  const headers = new Headers();
  for (const [name, values] of Object.entries(answer.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  if (WITHOUT_BODY.has(status)) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  const body = Readable.toWeb(answer) as ReadableStream<Uint8Array>;
  return new Response(body, { status, headers });
}
