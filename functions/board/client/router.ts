/** Paths of the board. Filters live in the query, so that a link shows what its sender saw. */
export const BASE = '/board';

export const PAGES = [
  'overview',
  'jobs',
  'escalations',
  'dead',
  'activity',
  'history',
  'schedules',
  'outbox',
] as const;
export type Page = (typeof PAGES)[number];

export type Place =
  | { readonly page: Page; readonly query: Readonly<Record<string, string>> }
  | { readonly page: 'job'; readonly id: string; readonly query: Readonly<Record<string, string>> }
  | {
      readonly page: 'queue';
      readonly id: string;
      readonly query: Readonly<Record<string, string>>;
    }
  | { readonly page: 'unknown'; readonly query: Readonly<Record<string, string>> };

export function placeOf(path: string, search = ''): Place {
  const query = Object.fromEntries(new URLSearchParams(search));
  const parts = path.replace(/\/+$/, '').slice(BASE.length).split('/').slice(1).map(decoded);
  const [room, id] = parts;
  if (parts.length === 0) return { page: 'overview', query };
  if (parts.length === 2 && id !== undefined && id !== '') {
    if (room === 'jobs') return { page: 'job', id, query };
    if (room === 'queues') return { page: 'queue', id, query };
  }
  const page = PAGES.find((name) => name === room && name !== 'overview');
  return parts.length === 1 && page !== undefined ? { page, query } : { page: 'unknown', query };
}

type Query = Readonly<Record<string, string | undefined>>;

export function pathTo(page: Page, query: Query = {}): string {
  return withQuery(page === 'overview' ? BASE : `${BASE}/${page}`, query);
}

export function jobPath(id: string): string {
  return `${BASE}/jobs/${encodeURIComponent(id)}`;
}

export function queuePath(name: string): string {
  return `${BASE}/queues/${encodeURIComponent(name)}`;
}

/** Empty and missing values are left out. */
export function withQuery(path: string, query: Query): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') given.append(name, value);
  }
  const text = given.toString();
  return text === '' ? path : `${path}?${text}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
