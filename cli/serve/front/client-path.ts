/**
 * Whose request it is, in levels. A site with IPv6 has a /48 or a /56
 * (https://www.rfc-editor.org/rfc/rfc6177), so up to 65,536 of the /64s that rates are counted by. It
 * takes turns as one client with others, and within it its networks do.
 */
import { clientKey } from '../../../src/http/access/client-address.ts';

/** Keys from the widest network to the client: three for IPv6, one for IPv4. */
export type ClientPath = readonly [string, ...string[]];

export function clientPath(address: string): ClientPath {
  const key = clientKey(address);
  if (!key.endsWith('::/64')) return [key];
  const [a, b, c, d = '0'] = key.slice(0, -'::/64'.length).split(':');
  const site = `${a}:${b}:${c}::/48`;
  return [site, `${site} ${Number.parseInt(d, 16) >> 8}`, key];
}

/** Of those that hold something, those of the client that holds most. */
export function largestHolder<T extends { readonly client: ClientPath }>(
  all: Iterable<T>,
  holdsOf: (each: T) => number,
): T[] {
  let own = [...all].filter((each) => holdsOf(each) > 0);
  for (let level = 0; level < 3; level++) {
    const groups = new Map<string, { holds: number; own: T[] }>();
    for (const each of own) {
      const key = each.client[level] ?? each.client[0];
      const group = groups.get(key) ?? { holds: 0, own: [] };
      group.holds += holdsOf(each);
      group.own.push(each);
      groups.set(key, group);
    }
    let most = 0;
    for (const group of groups.values()) {
      if (group.holds <= most) continue;
      most = group.holds;
      own = group.own;
    }
  }
  return own;
}
