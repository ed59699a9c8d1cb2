/**
 * Checks whether an output or an NFT is in a final ledger, against a root that the visitor trusts.
 */
import { useState } from 'preact/hooks';
import type { Proved } from '../../src/stardust/provenance/provenance.ts';
import { chooseRoot, isRoot, useFinalRoot } from '../archive/root-form.tsx';
import { asSentence } from '../format.ts';
import { HexField } from '../parts/hex-field.tsx';
import { NotChecked, Refuted, Tick } from '../parts/standing.tsx';

type Progress =
  | { state: 'idle' | 'running' | 'over' }
  | { state: 'false' | 'stopped'; reason: string };

export function FinalLedgerForm() {
  const [root, setRoot] = useState(useFinalRoot() ?? '');
  const [id, setId] = useState('');
  const [proven, setProven] = useState<readonly Proved<string>[]>([]);
  const [progress, setProgress] = useState<Progress>({ state: 'idle' });

  async function check(): Promise<void> {
    if (progress.state === 'running') return;
    setProven([]);
    setProgress({ state: 'running' });
    // it is entered once
    if (isRoot(root.trim())) chooseRoot(root.trim());
    const verifier = await import('../verify/verify-here.ts');
    try {
      for await (const sentence of verifier.verifyFinalHere(root.trim(), id.trim()))
        setProven((before) => [...before, sentence]);
      setProgress({ state: 'over' });
    } catch (error) {
      const state = error instanceof verifier.NotVerified ? 'false' : 'stopped';
      setProgress({ state, reason: asSentence((error as Error).message) });
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
        <HexField label="Final root" name="root" value={root} onChange={setRoot} />
        <HexField label="ID of an output or an NFT" name="id" value={id} onChange={setId} />
        <button type="submit" class="main" aria-disabled={progress.state === 'running'}>
          Check
        </button>
      </form>
      <div role="status" id="final-verdict">
        {progress.state === 'running' && <p class="loading">Checking …</p>}
        {proven.map((sentence, i) => (
          <Tick key={i} proof={sentence}>
            {(text) => text}
          </Tick>
        ))}
        {progress.state === 'false' && (
          <Refuted>False: the node proves nothing of this. {progress.reason}</Refuted>
        )}
        {progress.state === 'stopped' && <NotChecked>{progress.reason}</NotChecked>}
      </div>
    </section>
  );
}
