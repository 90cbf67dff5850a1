import { describe, expect, test } from 'vitest';

import { isPublicAddress } from '../../shared/push/public-address.ts';
import { checkPushTarget, targetAddressesProblem } from '../../shared/push/target.ts';

const STRICT = { allowHttp: false };
const HTTP = { allowHttp: true };

describe('case J1 a push does not go into private networks', () => {
  test.each([
    'https://example.com/hook',
    'https://example.com:8443/hook?tenant=7',
    'https://93.184.215.14/',
    'https://[2606:2800:220:1:248:1893:25c8:1946]/',
    'https://xn--bcher-kva.example/',
    'https://internal.example.com/',
    'https://notlocalhost.com/',
    'https://172.32.0.1/',
    'https://100.128.0.1/',
  ])('%s may be', (url) => {
    expect(checkPushTarget(url, STRICT)).toMatchObject({ ok: true, listed: false });
  });

  test.each([
    ['loopback', '127.0.0.1'],
    ['all of loopback', '127.255.0.9'],
    ['this host', '0.0.0.0'],
    ['private 10', '10.0.0.1'],
    ['private 172', '172.16.0.1'],
    ['private 172, the last', '172.31.255.255'],
    ['private 192', '192.168.1.1'],
    ['link-local, cloud metadata', '169.254.169.254'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['carrier-grade NAT, the last', '100.127.255.255'],
    ['benchmarks', '198.19.0.1'],
    ['documentation', '203.0.113.7'],
    ['multicast', '224.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['decimal', '2130706433'],
    ['hexadecimal', '0x7f000001'],
    ['octal', '0177.0.0.1'],
    ['mixed and short', '0x7f.1'],
    ['short private', '10.1'],
    ['full-width digits', '１２７.０.０.１'],
    ['percent-encoded', '%31%32%37.0.0.1'],
    ['a dot at the end', '127.0.0.1.'],
    ['IPv6 loopback', '[::1]'],
    ['IPv6 unspecified', '[::]'],
    ['v4-mapped', '[::ffff:127.0.0.1]'],
    ['v4-mapped, hexadecimal', '[::ffff:a9fe:a9fe]'],
    ['v4-mapped, a public one as well', '[::ffff:93.184.215.14]'],
    ['v4-compatible', '[::127.0.0.1]'],
    ['NAT64', '[64:ff9b::7f00:1]'],
    ['6to4 of a private address', '[2002:7f00:1::]'],
    ['Teredo', '[2001:0:7f00:1::]'],
    ['unique local', '[fd00::1]'],
    ['unique local fc', '[fc00::1]'],
    ['link-local v6', '[fe80::1]'],
    ['site-local v6', '[fec0::1]'],
    ['multicast v6', '[ff02::1]'],
    ['documentation v6', '[2001:db8::1]'],
    ['localhost', 'localhost'],
    ['localhost in capitals', 'LOCALHOST'],
    ['localhost with a dot', 'localhost.'],
    ['below localhost', 'a.localhost'],
    ['.local', 'printer.local'],
    ['.internal', 'metadata.google.internal'],
    ['.internal with a dot', 'vault.internal.'],
    ['.home.arpa', 'nas.home.arpa'],
    ['a name without a dot', 'kubernetes'],
  ])('%s may not be', (_name, host) => {
    expect(checkPushTarget(`https://${host}/`, STRICT).ok).toBe(false);
    expect(checkPushTarget(`http://${host}/`, HTTP).ok).toBe(false);
  });

  test.each([
    'http://example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://user@example.com/',
    'https://user:password@example.com/',
    'https://example.com/#part',
    'https://',
    'example.com',
    '',
    `https://example.com/${'x'.repeat(2000)}`,
  ])('%s may not be either', (url) => {
    expect(checkPushTarget(url, STRICT).ok).toBe(false);
  });

  test('plain http is for deployments that say so', () => {
    expect(checkPushTarget('http://example.com/', HTTP).ok).toBe(true);
    expect(checkPushTarget('ftp://example.com/', HTTP).ok).toBe(false);
  });

  test('the reason never repeats the URL', () => {
    const check = checkPushTarget('https://secret-user:secret-word@10.0.0.1/secret-path', STRICT);
    expect(JSON.stringify(check)).not.toContain('secret');
  });
});

describe('a list of allowed hosts', () => {
  const LISTED = {
    allowHttp: true,
    allowedHosts: ['hooks.example.com', '127.0.0.1:8080', '[::1]'],
  };

  test.each([
    'https://hooks.example.com/a',
    'https://HOOKS.example.com./a',
    'https://hooks.example.com:9000/a',
    'http://127.0.0.1:8080/',
    'http://0x7f.1:8080/',
    'http://[::1]:1234/',
    'http://[0:0::1]/',
  ])('lets %s through', (url) => {
    expect(checkPushTarget(url, LISTED)).toMatchObject({ ok: true, listed: true });
  });

  test.each([
    'https://example.com/',
    'https://a.hooks.example.com/',
    'https://hooks.example.com.evil.test/',
    'http://127.0.0.1/',
    'http://127.0.0.1:8081/',
    'http://127.0.0.2:8080/',
  ])('and nothing else: %s', (url) => {
    expect(checkPushTarget(url, LISTED).ok).toBe(false);
  });

  test('does not lift the rule on https', () => {
    expect(checkPushTarget('http://hooks.example.com/', { ...LISTED, allowHttp: false }).ok).toBe(
      false,
    );
  });

  test('a port that is the default of its protocol counts as that port', () => {
    const policy = { allowHttp: true, allowedHosts: ['a.example:443'] };
    expect(checkPushTarget('https://a.example/', policy).ok).toBe(true);
    expect(checkPushTarget('http://a.example/', policy).ok).toBe(false);
  });
});

describe('case J1 what a name resolves to', () => {
  test.each([[['93.184.215.14']], [['93.184.215.14', '2606:2800:220:1:248:1893:25c8:1946']]])(
    '%j is public',
    (addresses) => {
      expect(targetAddressesProblem(addresses)).toBeUndefined();
    },
  );

  test.each([
    [['169.254.169.254']],
    [['93.184.215.14', '10.0.0.1']],
    [['::1']],
    [['fe80::1%eth0']],
    [['::ffff:10.0.0.1']],
    [['not an address']],
    [['']],
  ])('%j is not', (addresses) => {
    expect(targetAddressesProblem(addresses)).toBeDefined();
  });

  test('an address cannot smuggle another URL in', () => {
    expect(isPublicAddress('93.184.215.14/@10.0.0.1')).toBe(false);
    expect(isPublicAddress('93.184.215.14#')).toBe(false);
    expect(isPublicAddress('user@93.184.215.14')).toBe(false);
    expect(isPublicAddress('93.184.215.14:80')).toBe(false);
  });
});
