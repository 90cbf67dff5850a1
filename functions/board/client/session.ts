import type { Session } from './wire.ts';

/** The session of this browser; without one, the sign-in page takes over and this never settles. */
export async function readSession(): Promise<Session> {
  const response = await fetch('/board/session');
  if (response.ok) return (await response.json()) as Session;
  goToSignIn();
  return new Promise(() => undefined);
}

/** The sign-in page leads back to where the board was. */
export function goToSignIn(): void {
  const here = `${location.pathname}${location.search}`;
  location.assign(`/board/sign-in?next=${encodeURIComponent(here)}`);
}
