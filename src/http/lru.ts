/**
 * A map that is bounded in bytes and evicts the least recently used entry.
 */
export interface Lru<V> {
  get(key: string): V | undefined;
  put(key: string, value: V): void;
  /** Bytes that are kept, by `bytesOf`. */
  readonly bytes: number;
}

/**
 * @param maxBytes a value that is larger by itself is not kept
 * @param bytesOf bytes that an entry takes, some overhead included; always the same for an entry
 */
export function createLru<V>(maxBytes: number, bytesOf: (key: string, value: V) => number): Lru<V> {
  /** Least recently used first. */
  const entries = new Map<string, V>();
  let bytes = 0;

  function remove(key: string): void {
    const value = entries.get(key);
    if (value === undefined) return;
    entries.delete(key);
    bytes -= bytesOf(key, value);
  }

  return {
    get(key) {
      const value = entries.get(key);
      if (value !== undefined) {
        entries.delete(key);
        entries.set(key, value);
      }
      return value;
    },
    put(key, value) {
      remove(key);
      const added = bytesOf(key, value);
      if (added > maxBytes) return;
      entries.set(key, value);
      bytes += added;
      for (const oldest of entries.keys()) {
        if (bytes <= maxBytes) break;
        remove(oldest);
      }
    },
    get bytes() {
      return bytes;
    },
  };
}
