/** Those that wait; clients take turns, and within a site of IPv6 its networks do. */
import type { ClientPath } from './client-path.ts';

interface Group<T> {
  waiting: Set<T>;
  /** Whose turn it is, first. */
  groups: Map<string, Group<T>>;
}

export interface Turns<T> {
  /** How many sites wait. */
  readonly size: number;
  add(each: T): void;
  remove(each: T): void;
  /** The oldest one of the first client that may start one. */
  take(mayStart?: (site: string) => boolean): T | undefined;
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
