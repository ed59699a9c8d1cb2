/**
 * Asks for the final root once, and says which one is used.
 */
import { useState } from 'preact/hooks';
import { Id } from '../parts/parts.tsx';
import { useKeyChoice } from '../verify/key-choice.ts';
import { chooseRoot, isRoot, useFinalRoot } from './root-choice.ts';

export function RootForm() {
  const root = useFinalRoot();
  return root === undefined ? (
    <EnterRoot />
  ) : (
    <p class="hint">
      Checked against the final root that you gave: <Id id={root} what="final root" />{' '}
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
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault();
        const root = text.trim().toLowerCase();
        if (isRoot(root)) chooseRoot(root);
        else setProblem('The root must be 0x and 64 hex digits.');
      }}
    >
      <label class="wide">
        Final root, from somebody you trust
        <input
          class="mono"
          name="root"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          spellcheck={false}
          autocomplete="off"
          required
        />
      </label>
      <button type="submit">Check against it</button>
      {published !== undefined && choice.kind === 'known' && (
        <button type="button" onClick={() => chooseRoot(published)}>
          Take the one of {choice.network.title} from this page’s source
        </button>
      )}
      <p class="problem" role="status">
        {problem}
      </p>
    </form>
  );
}
