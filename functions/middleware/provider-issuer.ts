import type { Config } from '../../shared/config.ts';

/** The sign-in provider that clients may ask for tokens: its issuer, where that is an address; undefined: there is none. */
export function providerIssuer({
  jwksUrl,
  authIssuer,
}: Pick<Config, 'jwksUrl' | 'authIssuer'>): string | undefined {
  if (jwksUrl === undefined || authIssuer === undefined) return undefined;
  return URL.parse(authIssuer)?.protocol === 'https:' ? authIssuer : undefined;
}
