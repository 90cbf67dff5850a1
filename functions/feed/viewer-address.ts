import type { ViewerRequest } from './live-feed.ts';

const INTERNAL_URL = 'https://leasehold.internal/stream';

/** The viewer as an address, for the way from a Worker to the object that has the feed. */
export function addressOf({ cursor, lost, queue, queues, endsAt }: ViewerRequest): string {
  const url = new URL(INTERNAL_URL);
  if (cursor !== undefined) url.searchParams.set('cursor', cursor);
  if (lost === true) url.searchParams.set('lost', 'true');
  if (queue !== undefined) url.searchParams.set('queue', queue);
  if (queues !== undefined) url.searchParams.set('limited', 'true');
  for (const name of queues ?? []) url.searchParams.append('only', name);
  if (endsAt !== undefined) url.searchParams.set('ends_at', String(endsAt));
  return url.href;
}

/** The other way round. */
export function viewerOf({ searchParams }: URL): ViewerRequest {
  const [cursor, queue, endsAt] = ['cursor', 'queue', 'ends_at'].map((name) =>
    searchParams.get(name),
  );
  return {
    ...(typeof cursor === 'string' ? { cursor } : {}),
    ...(searchParams.has('lost') ? { lost: true } : {}),
    ...(typeof queue === 'string' ? { queue } : {}),
    ...(searchParams.has('limited') ? { queues: searchParams.getAll('only') } : {}),
    ...(typeof endsAt === 'string' ? { endsAt: Number(endsAt) } : {}),
  };
}
