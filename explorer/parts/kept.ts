/** What the visitor chose, for all views, and kept by the browser for the next visit. */
import { useEffect, useState } from 'preact/hooks';

/**
 * @param key in the browser's storage
 * @param read null: nothing is stored; throws where it cannot be read
 * @param write undefined: nothing is stored
 */
export function keptChoice<T>(
  key: string,
  read: (stored: string | null) => T,
  write: (value: T) => string | undefined,
) {
  const listeners = new Set<(value: T) => void>();
  let current = readStored();

  function readStored(): T {
    try {
      return read(localStorage.getItem(key));
    } catch {
      // storage may be forbidden
      return read(null);
    }
  }

  function choose(value: T): void {
    current = value;
    try {
      const text = write(value);
      if (text === undefined) localStorage.removeItem(key);
      else localStorage.setItem(key, text);
    } catch {
      // then it is asked again
    }
    for (const listener of listeners) listener(value);
  }

  function useChoice(): T {
    const [value, setValue] = useState(current);
    useEffect(() => {
      // it may have been chosen between the first drawing and now
      setValue(current);
      listeners.add(setValue);
      return () => void listeners.delete(setValue);
    }, []);
    return value;
  }

  return { choose, useChoice };
}
