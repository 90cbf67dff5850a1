import type { Outbound } from '../shared/ports.ts';

export { webClock, webIds, webRandom, webTimer } from '../shared/web-ports.ts';

/** No `lookup`: web runtimes cannot resolve names. */
export const webOutbound: Outbound = { fetch: (request) => fetch(request) };
