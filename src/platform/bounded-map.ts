/**
 * Creates a map that is bounded by the size of its entries and evicts the least recently used ones.
 *
 * @param max limit of the sum of sizes; a larger entry is not kept
 * @param sizeOf size of an entry, always the same for an entry; absent: 1
 * @param mostNow limit where others take some; absent: `max`
 */
export function createBoundedMap<V>(
  max: number,
  sizeOf: (key: string, value: V) => number = () => 1,
  mostNow = () => max,
) {
  /** Least recently used first. */
  const entries = new Map<string, V>();
  let total = 0;

  function remove(key: string): void {
    const value = entries.get(key);
    if (value === undefined) return;
    entries.delete(key);
    total -= sizeOf(key, value);
  }

  return {
    /** Returns the value, which stays as old as it is. */
    peek: (key: string) => entries.get(key),
    /** Returns the value, which is the most recently used one then. */
    get(key: string) {
      const value = entries.get(key);
      if (value !== undefined) {
        entries.delete(key);
        entries.set(key, value);
      }
      return value;
    },
    set(key: string, value: V) {
      remove(key);
      const size = sizeOf(key, value);
      if (size > max) return;
      entries.set(key, value);
      total += size;
      for (const oldest of entries.keys()) {
        if (total <= mostNow()) break;
        remove(oldest);
      }
    },
    delete: remove,
    entries: () => entries.entries(),
    clear() {
      entries.clear();
      total = 0;
    },
  };
}
