/**
 * Key of the client of a request, for rate limits and shares. A client with IPv6 has a whole /64
 * (https://www.rfc-editor.org/rfc/rfc6177), so its first four groups are the key. An IPv4 address
 * is the key itself, also if a socket writes it as IPv6: `::ffff:192.0.2.1`.
 */

/** Key of all requests without an address. */
const UNKNOWN = 'unknown';

const IPV6_GROUPS = 8;
const NETWORK_GROUPS = 4;
const MAPPED_PREFIX = '0:0:0:0:0:ffff';

/**
 * The address of every Worker of another zone, which CF-Worker names: a follower on Cloudflare must
 * not share limits with strangers' Workers.
 * https://developers.cloudflare.com/fundamentals/reference/http-headers/#cf-connecting-ip-in-worker-subrequests
 */
const WORKERS = '2a06:98c0:3600::103';

/** Returns the key of the client that sent the request. Cloudflare sets these headers itself. */
export function clientKeyOf({ headers }: Pick<Request, 'headers'>): string {
  const address = headers.get('cf-connecting-ip') ?? '';
  const zone = address === WORKERS ? headers.get('cf-worker') : null;
  return zone === null ? clientKey(address) : `worker of ${zone.slice(0, 200)}`;
}

/**
 * Returns the key of a client by its address: `192.0.2.1`, or `2001:db8:1:2::/64`.
 *
 * @param address IPv4 or IPv6 in any spelling, as of a header or a socket, possibly with a zone
 */
export function clientKey(address: string): string {
  const host = address.trim().replace(/%.*/s, '');
  // an IPv4 address in its only spelling
  const isIpv4 = /^[\d.]+$/.test(host) && URL.parse(`http://${host}`)?.hostname === host;
  if (!host.includes(':')) return isIpv4 ? host : UNKNOWN;
  const groups = ipv6Groups(host);
  if (groups === undefined) return UNKNOWN;
  if (groups.slice(0, 6).join(':') === MAPPED_PREFIX) return writeIpv4(groups.slice(6));
  return `${groups.slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

/** All groups of an IPv6 address, in lower case without zeros in front; undefined if it is none. */
export function ipv6Groups(address: string): string[] | undefined {
  const url = URL.parse(`http://[${address}]`);
  if (url === null) return undefined;
  const [before = '', after] = url.hostname.slice(1, -1).split('::');
  const split = (text: string) => (text === '' ? [] : text.split(':'));
  if (after === undefined) return split(before);
  const [head, tail] = [split(before), split(after)];
  const zeros = Array.from({ length: IPV6_GROUPS - head.length - tail.length }, () => '0');
  return [...head, ...zeros, ...tail];
}

function writeIpv4(groups: readonly string[]): string {
  return groups
    .map((group) => Number.parseInt(group, 16))
    .flatMap((value) => [value >> 8, value & 0xff])
    .join('.');
}
