/** Calls to the server in the name of who is signed in. The session is a cookie; what changes anything carries its twin. */
import { problemOf, unreachable } from './problem.ts';

export interface Api {
  get<T>(path: string, signal?: AbortSignal): Promise<T>;
  send<T>(method: 'POST' | 'PUT' | 'PATCH', path: string, body: unknown): Promise<T>;
}

export interface ApiPorts {
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>;
  /** The cookies that scripts may read. */
  readonly cookies: () => string;
  /** The session has ended. */
  readonly signedOut: () => void;
}

const CSRF_COOKIE = 'leasehold_csrf';

export function createApi(ports: ApiPorts): Api {
  const call = async <T>(path: string, init: RequestInit): Promise<T> => {
    const response = await ports.fetch(path, init).catch((error: unknown) => {
      if (init.signal?.aborted === true) throw error;
      throw unreachable();
    });
    if (response.status === 401) ports.signedOut();
    const body: unknown = await response.json().catch(() => undefined);
    if (!response.ok) throw problemOf(response.status, body);
    return body as T;
  };
  return {
    get: (path, signal) =>
      call(path, { headers: { accept: 'application/json' }, ...(signal ? { signal } : {}) }),
    send: (method, path, body) =>
      call(path, {
        method,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          'x-csrf-token': cookieValue(ports.cookies(), CSRF_COOKIE) ?? '',
        },
        body: JSON.stringify(body),
      }),
  };
}

export function cookieValue(cookies: string, name: string): string | undefined {
  const found = cookies
    .split(';')
    .map((one) => one.trim())
    .find((one) => one.startsWith(`${name}=`));
  return found === undefined ? undefined : decodeURIComponent(found.slice(name.length + 1));
}
