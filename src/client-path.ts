/**
 * Clients in levels, for all that is fair between them: places, turns, who holds most, rates. A site
 * with IPv6 has a /48 or a /56 (https://www.rfc-editor.org/rfc/rfc6177), so up to 65,536 of the /64s
 * that are keys of clients (http/access/client-address.ts). It takes turns as one client with others,
 * and within it its networks do.
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

/** Of those that hold something, those of the client that holds most; of equal ones, the youngest. */
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

/** Those that wait; clients take turns, and within a site of IPv6 its networks do. */
export interface Turns<T> {
  /** How many sites wait. */
  readonly size: number;
  add(each: T): void;
  remove(each: T): void;
  /** The oldest one of the first client that may start one. */
  take(mayStart?: (site: string) => boolean): T | undefined;
}

interface Group<T> {
  waiting: Set<T>;
  /** Whose turn it is, first. */
  groups: Map<string, Group<T>>;
}

const createGroup = <T>(): Group<T> => ({ waiting: new Set(), groups: new Map() });

const isEmpty = <T>({ waiting, groups }: Group<T>) => waiting.size === 0 && groups.size === 0;

export function createTurns<T extends { readonly client: ClientPath }>(): Turns<T> {
  const root = createGroup<T>();

  function remove(group: Group<T>, each: T, level: number): void {
    const key = each.client[level];
    const inner = key === undefined ? undefined : group.groups.get(key);
    if (key === undefined) group.waiting.delete(each);
    else if (inner !== undefined) {
      remove(inner, each, level + 1);
      if (isEmpty(inner)) group.groups.delete(key);
    }
  }

  function takeFrom(group: Group<T>, mayStart: (key: string) => boolean): T | undefined {
    const [oldest] = group.waiting;
    if (oldest !== undefined) {
      group.waiting.delete(oldest);
      return oldest;
    }
    for (const [key, inner] of group.groups) {
      if (!mayStart(key)) continue;
      const taken = takeFrom(inner, () => true);
      group.groups.delete(key);
      if (!isEmpty(inner)) group.groups.set(key, inner);
      return taken;
    }
    return undefined;
  }

  return {
    get size() {
      return root.groups.size;
    },
    add(each) {
      let group = root;
      for (const key of each.client) {
        const inner = group.groups.get(key) ?? createGroup<T>();
        group.groups.set(key, inner);
        group = inner;
      }
      group.waiting.add(each);
    },
    remove: (each) => remove(root, each, 0),
    take: (mayStart = () => true) => takeFrom(root, mayStart),
  };
}
