/**
 * Reads something for a view: as long as it is under way, when it is there, and when it failed.
 */
import { useEffect, useState } from 'preact/hooks';

export type Loaded<T> =
  | { state: 'loading' }
  | { state: 'done'; value: T }
  | { state: 'failed'; error: Error };

/** Calls `load` when one of `inputs` changes; an answer that comes too late is dropped. */
export function useLoad<T>(load: () => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: 'loading' });
  useEffect(() => {
    let dropped = false;
    setLoaded({ state: 'loading' });
    load().then(
      (value) => dropped || setLoaded({ state: 'done', value }),
      (error: unknown) => dropped || setLoaded({ state: 'failed', error: asError(error) }),
    );
    return () => {
      dropped = true;
    };
  }, inputs);
  return loaded;
}

export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
