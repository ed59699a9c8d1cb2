/**
 * Checks whether an output or an NFT is in a final ledger, against a root that the visitor trusts.
 */
import { useState } from 'preact/hooks';
import { Verdict } from '../parts/parts.tsx';

type Progress =
  | { state: 'idle' | 'running' | 'verified' }
  | { state: 'false' | 'stopped'; reason: string };

export function FinalLedgerForm() {
  const [root, setRoot] = useState('');
  const [id, setId] = useState('');
  const [proven, setProven] = useState<readonly string[]>([]);
  const [progress, setProgress] = useState<Progress>({ state: 'idle' });

  async function check(): Promise<void> {
    if (progress.state === 'running') return;
    setProven([]);
    setProgress({ state: 'running' });
    const verifier = await import('../verify/verifier.ts');
    try {
      for await (const sentence of verifier.verifyFinalHere(root.trim(), id.trim()))
        setProven((before) => [...before, sentence]);
      setProgress({ state: 'verified' });
    } catch (error) {
      const state = error instanceof verifier.NotVerified ? 'false' : 'stopped';
      setProgress({ state, reason: (error as Error).message.replace(/\.?$/, '.') });
    }
  }

  return (
    <section id="final-ledger">
      <h2>The final ledger</h2>
      <p>
        The network ended here. One hash, the final root, commits to every unspent output and every
        NFT. Take it from somebody you trust, not from this node: your browser checks the node’s
        proof that the ledger has an output or an NFT, or that it has not.
      </p>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          void check().catch((error: Error) =>
            setProgress({ state: 'stopped', reason: error.message }),
          );
        }}
      >
        <label class="wide">
          Final root
          <input
            class="mono"
            name="root"
            value={root}
            onInput={({ currentTarget }) => setRoot(currentTarget.value)}
            spellcheck={false}
            autocomplete="off"
            required
          />
        </label>
        <label class="wide">
          ID of an output or an NFT
          <input
            class="mono"
            name="id"
            value={id}
            onInput={({ currentTarget }) => setId(currentTarget.value)}
            spellcheck={false}
            autocomplete="off"
            required
          />
        </label>
        <button type="submit" class="main" aria-disabled={progress.state === 'running'}>
          Check
        </button>
      </form>
      <div role="status" id="final-verdict">
        {progress.state === 'running' && <p class="loading">Checking …</p>}
        {progress.state === 'verified' && <Verdict tone="good">{proven.join(' ')}</Verdict>}
        {progress.state === 'false' && (
          <Verdict tone="bad">False: the node proves nothing of this. {progress.reason}</Verdict>
        )}
        {progress.state === 'stopped' && (
          <Verdict tone="neutral">Not checked: {progress.reason}</Verdict>
        )}
      </div>
    </section>
  );
}
