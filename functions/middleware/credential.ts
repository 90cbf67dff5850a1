import type { RouteContext } from '../routes/route.ts';
import { sessionToken } from './session-cookie.ts';

/** What a call brings to say who makes it. */
export interface Credential {
  /** How it came: a program sends the header, a browser the cookie, by itself. */
  readonly from: 'header' | 'cookie';
  readonly token: string;
}

/** A header that is there but is no bearer token is not made up for by a cookie. */
export function credentialOf(context: RouteContext): Credential | undefined {
  const header = context.req.header('authorization');
  if (header !== undefined) {
    const token = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(header)?.[1];
    return token === undefined ? undefined : { from: 'header', token };
  }
  const token = sessionToken(context);
  return token === undefined ? undefined : { from: 'cookie', token };
}
