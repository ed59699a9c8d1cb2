/**
 * The final root (docs/final-ledger.md) that the visitor checks an ended network against: entered once,
 * or taken from this page's source, for the network that the visitor chose. The node never chooses it.
 */
import { useEffect, useState } from 'preact/hooks';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { EntryForm, LabelledField } from '../parts/field.tsx';
import { Id } from '../parts/parts.tsx';
import { useKeyChoice } from '../verify/key-choice.ts';

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

export function RootForm() {
  const root = useFinalRoot();
  return root === undefined ? (
    <EnterRoot />
  ) : (
    <p class="hint">
      The final root that you gave: <Id id={root} what="final root" />{' '}
      <button type="button" onClick={() => chooseRoot(undefined)}>
        Forget it
      </button>
    </p>
  );
}

function EnterRoot() {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const choice = useKeyChoice();
  const published = choice.kind === 'known' ? choice.network.finalRoot : undefined;
  return (
    <EntryForm
      submit={() => {
        const root = text.trim().toLowerCase();
        if (isRoot(root)) chooseRoot(root);
        else setProblem('The root must be 0x and 64 hex digits.');
      }}
    >
      <LabelledField
        label="Final root, from somebody you trust"
        name="root"
        value={text}
        onChange={setText}
      />
      <button type="submit">Check against it</button>
      {published !== undefined && choice.kind === 'known' && (
        <button type="button" onClick={() => chooseRoot(toHex(published))}>
          Take the one of {choice.network.title} from this page’s source
        </button>
      )}
      <p class="problem" role="status">
        {problem}
      </p>
    </EntryForm>
  );
}
