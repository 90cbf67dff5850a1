/** First address and prefix length of what is not the public internet (IANA's special-purpose registry for IPv4). */
const SPECIAL_IPV4: readonly (readonly [base: string, prefix: number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, cloud metadata among it
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
];

/**
 * Whether an IP address is one of the public internet. Closed by default: text that is no address is not public, and of
 * IPv6 only global unicast is, without the parts that wrap an IPv4 address (mapped, NAT64, 6to4, Teredo), since those
 * would be a way around.
 *
 * @param text an address as a resolver gives it, without brackets; any spelling that URLs allow, such as 0x7f.1
 * @example isPublicAddress('::ffff:10.0.0.1') // false
 */
export function isPublicAddress(text: string): boolean {
  if (!/^[\da-fx.:]+$/i.test(text)) return false;
  // The URL parser is the one that will be used for the request, so it decides what an address text means.
  const url = text.includes(':') ? `http://[${text}]/` : `http://${text}/`;
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return hostname.startsWith('[')
    ? isPublicIpv6(hostname.slice(1, -1))
    : isIpv4(hostname) && isPublicIpv4(hostname);
}

/** Whether a host name, as the URL parser gives it, is an IPv4 address. */
export function isIpv4(hostname: string): boolean {
  return /^\d{1,3}(?:\.\d{1,3}){3}$/.test(hostname);
}

function isPublicIpv4(address: string): boolean {
  const number = ipv4Number(address);
  return !SPECIAL_IPV4.some(
    ([base, prefix]) => (number ^ ipv4Number(base)) >>> (32 - prefix) === 0,
  );
}

function ipv4Number(address: string): number {
  return address.split('.').reduce((number, part) => (number << 8) | Number(part), 0);
}

function isPublicIpv6(address: string): boolean {
  const [first = 0, second = 0] = ipv6Groups(address);
  if (first < 0x2000 || first > 0x3fff) return false; // not global unicast
  if (first === 0x2001 && second < 0x0200) return false; // protocol assignments, Teredo among them
  if (first === 0x2001 && second === 0x0db8) return false; // documentation
  if (first === 0x2002) return false; // 6to4
  if (first === 0x3fff && second < 0x1000) return false; // documentation
  return true;
}

/** The eight numbers of an address as the URL parser writes it: hexadecimal, at most one `::`. */
function ipv6Groups(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16));
}
