import { decodeJwt } from 'jose';

/** What a bearer token says of itself; nothing is verified. Undefined for a text that is no token. */
export function tokenClaims(token: string): ReturnType<typeof decodeJwt> | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}
