/**
 * The final root (docs/final-ledger.md) that the visitor checks an ended network against: entered once,
 * or taken from this page's source, for the network that the visitor chose. The node never chooses it.
 */
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { OneField } from '../parts/field.tsx';
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
  const choice = useKeyChoice();
  const published = choice.kind === 'known' ? choice.network.finalRoot : undefined;
  return (
    <OneField
      label="Final root, from somebody you trust"
      name="root"
      take={(text) => {
        const root = text.toLowerCase();
        if (!isRoot(root)) return 'The root must be 0x and 64 hex digits.';
        chooseRoot(root);
        return undefined;
      }}
    >
      <button type="submit">Check against it</button>
      {published !== undefined && choice.kind === 'known' && (
        <button type="button" onClick={() => chooseRoot(toHex(published))}>
          Take the one of {choice.network.title} from this page’s source
        </button>
      )}
    </OneField>
  );
}
