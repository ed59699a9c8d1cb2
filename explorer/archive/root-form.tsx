/**
 * The final root (docs/final-ledger.md) that the visitor checks an ended network against: entered once,
 * or taken from this page's source, for the network that the visitor chose. The node never chooses it.
 */
import { useState } from 'preact/hooks';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { EntryForm, LabelledField } from '../parts/field.tsx';
import { keptChoice } from '../parts/kept.ts';
import { Id } from '../parts/parts.tsx';
import { useKeyChoice } from '../verify/key-choice.ts';

/** 0x and 64 hex digits. */
export const isRoot = (text: string) => /^0x[0-9a-f]{64}$/.test(text);

/** Undefined: none, or it is forgotten. */
const { choose: chooseRoot, useChoice: useFinalRoot } = keptChoice<string | undefined>(
  'final-root',
  (stored) => (stored !== null && isRoot(stored) ? stored : undefined),
  (root) => root,
);

export { chooseRoot, useFinalRoot };

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
