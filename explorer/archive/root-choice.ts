/**
 * The final root (docs/final-ledger.md) that the visitor checks an ended network against: entered once,
 * or taken from this page's source, for the network that the visitor chose. The node never chooses it.
 */
import { useEffect, useState } from 'preact/hooks';

const STORAGE_KEY = 'final-root';

const listeners = new Set<(root: string | undefined) => void>();
let current = readRoot();

function readRoot(): string | undefined {
  try {
    const stored = localStorage.getItem(STORAGE_KEY);
    return stored !== null && isRoot(stored) ? stored : undefined;
  } catch {
    // storage may be forbidden
    return undefined;
  }
}

/** 0x and 64 hex digits. */
export function isRoot(text: string): boolean {
  return /^0x[0-9a-f]{64}$/.test(text);
}

/** @param root undefined: it is forgotten */
export function chooseRoot(root: string | undefined): void {
  current = root;
  try {
    if (root === undefined) localStorage.removeItem(STORAGE_KEY);
    else localStorage.setItem(STORAGE_KEY, root);
  } catch {
    // then it is asked again
  }
  for (const listener of listeners) listener(root);
}

export function useFinalRoot(): string | undefined {
  const [root, setRoot] = useState(current);
  useEffect(() => {
    // it may have been chosen between the first drawing and now
    setRoot(current);
    listeners.add(setRoot);
    return () => void listeners.delete(setRoot);
  }, []);
  return root;
}
