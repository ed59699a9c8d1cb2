/**
 * Clients in levels, for all that is fair between them: places, turns, most held, rates. A site
 * with IPv6 has a /48 or a /56 (https://www.rfc-editor.org/rfc/rfc6177), so up to 65,536 of the
 * /64s that are keys of clients (http/access/client-address.ts). It takes turns as one client, and
 * within it its networks do.
 */

/** Keys from the widest network to the client: /48, /56 and /64 of IPv6, one for IPv4. */
export type ClientPath = readonly [string, ...string[]];

/** @param key of the client's address */
export function clientPath(key: string): ClientPath {
  if (!key.endsWith('::/64')) return [key];
  const [a, b, c, d = '0'] = key.slice(0, -'::/64'.length).split(':');
  const site = `${a}:${b}:${c}::/48`;
  return [site, `${site} ${Number.parseInt(d, 16) >> 8}`, key];
}

/** Returns what the client that holds most holds; of equal ones, the youngest. */
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
      if (group.holds < most) continue;
      most = group.holds;
      own = group.own;
    }
  }
  return own;
}

/** Waiters of one client, or groups by the key of the next level; the next in turn first. */
type Group<T> = { own: Set<T>; inner: Map<string, Group<T>> };

/** Creates a queue: clients take turns, and within a site of IPv6 its networks do. */
export function createTurns<T extends { readonly client: ClientPath }>() {
  const createGroup = (): Group<T> => ({ own: new Set(), inner: new Map() });
  const root = createGroup();

  function remove(group: Group<T>, each: T, [key, ...keys]: readonly string[]): void {
    const inner = group.inner.get(key ?? '');
    if (key === undefined) group.own.delete(each);
    if (key === undefined || inner === undefined) return;
    remove(inner, each, keys);
    if (inner.own.size + inner.inner.size === 0) group.inner.delete(key);
  }

  function first(group: Group<T>, mayStart: (key: string) => boolean): T | undefined {
    for (const [key, inner] of group.inner) {
      if (!mayStart(key)) continue;
      // it goes behind the others
      group.inner.delete(key);
      group.inner.set(key, inner);
      return first(inner, () => true);
    }
    const [oldest] = group.own;
    return oldest;
  }

  return {
    /** How many sites wait. */
    get size() {
      return root.inner.size;
    },
    add(each: T) {
      let group = root;
      for (const key of each.client) {
        const inner = group.inner.get(key) ?? createGroup();
        group.inner.set(key, inner);
        group = inner;
      }
      group.own.add(each);
    },
    remove: (each: T) => remove(root, each, each.client),
    /** The oldest one of the first client that may start one. */
    take(mayStart: (site: string) => boolean = () => true) {
      const taken = first(root, mayStart);
      if (taken !== undefined) remove(root, taken, taken.client);
      return taken;
    },
  };
}
