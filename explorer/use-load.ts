/**
 * Reads something for a view: as long as it is under way, when it is there, and when it failed.
 */
import { useEffect, useRef, useState } from 'preact/hooks';

export type Loaded<T> =
  | { state: 'loading' }
  | { state: 'done'; value: T }
  | { state: 'failed'; error: Error };

const LOADING = { state: 'loading' } as const;

/**
 * Calls `load` when one of `inputs` changes. What was loaded for other inputs is not returned, and
 * an answer that comes too late is dropped.
 */
export function useLoad<T>(load: () => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [{ loaded, of }, set] = useState<{ loaded: Loaded<T>; of: readonly unknown[] }>({
    loaded: LOADING,
    of: inputs,
  });
  useEffect(() => {
    let dropped = false;
    const show = (now: Loaded<T>) => dropped || set({ loaded: now, of: inputs });
    load().then(
      (value) => show({ state: 'done', value }),
      (error: unknown) => show({ state: 'failed', error: asError(error) }),
    );
    return () => {
      dropped = true;
    };
  }, inputs);
  return inputs.every((input, i) => input === of[i]) ? loaded : LOADING;
}

/**
 * What was loaded last stays on show while the same is loaded again; the second value says whether
 * it is that.
 */
export function useLast<T>(loaded: Loaded<T>): [Loaded<T>, isOld: boolean] {
  const last = useRef<Loaded<T>>(loaded);
  if (loaded.state !== 'loading') last.current = loaded;
  return [last.current, loaded.state === 'loading' && last.current.state !== 'loading'];
}

export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
