import type { Config } from '../../shared/config.ts';
import type { RouteContext } from '../routes/route.ts';
import { sessionToken } from './session-cookie.ts';

/** What a call brings to say who makes it. */
export interface Credential {
  /** How it came: a program sends the header; a proxy and a browser's cookie add it, whoever made them call. */
  readonly from: 'header' | 'proxy' | 'cookie';
  readonly token: string;
}

/**
 * The first of the three. A program's own header counts before what a proxy adds to it, and whoever the proxy knows is
 * that person. A header that is no bearer token is not made up for by anything else.
 */
export function credentialOf(
  context: RouteContext,
  { signInProxy }: Pick<Config, 'signInProxy'>,
): Credential | undefined {
  const header = context.req.header('authorization');
  if (header !== undefined) {
    const token = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(header)?.[1];
    return token === undefined ? undefined : { from: 'header', token };
  }
  const said = signInProxy === undefined ? undefined : context.req.header(signInProxy.header);
  if (said !== undefined) return { from: 'proxy', token: said };
  const token = sessionToken(context);
  return token === undefined ? undefined : { from: 'cookie', token };
}

/** What the proof that a call comes from an own page is bound to; see `csrfToken`. A proxy's token changes as it likes. */
export function csrfBinding({ from, token }: Credential, subject: string): string {
  return from === 'proxy' ? `proxy\n${subject}` : token;
}
