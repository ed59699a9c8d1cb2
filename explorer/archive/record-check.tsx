/**
 * Checks whether an output or an NFT is in a final ledger, against a root that the visitor trusts.
 */
import { useState } from 'preact/hooks';
import type { Proved } from '../../src/stardust/provenance/provenance.ts';
import { asSentence } from '../format.ts';
import { EntryForm, LabelledField } from '../parts/field.tsx';
import { NotChecked, RefutedMark, Tick } from '../parts/standing.tsx';
import { chooseRoot, isRoot, useFinalRoot } from './root-form.tsx';

type Progress =
  | { state: 'idle' | 'running' | 'over' }
  | { state: 'false' | 'stopped'; reason: string };

/** The check, where the visitor gave the root already, or with a field for it. */
function RecordCheck({ root: given }: { root?: string }) {
  const [typed, setRoot] = useState(useFinalRoot() ?? '');
  const root = given ?? typed;
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
    <>
      <EntryForm
        submit={() =>
          void check().catch((error: Error) =>
            setProgress({ state: 'stopped', reason: error.message }),
          )
        }
      >
        {given === undefined && (
          <LabelledField label="Final root" name="root" value={root} onChange={setRoot} />
        )}
        <LabelledField label="ID of an output or an NFT" name="id" value={id} onChange={setId} />
        <button type="submit" class="main" aria-disabled={progress.state === 'running'}>
          Check
        </button>
      </EntryForm>
      <div role="status" id="final-verdict">
        {progress.state === 'running' && <p class="loading">Checking …</p>}
        {proven.map((sentence, i) => (
          <Tick key={i} proof={sentence}>
            {(text) => text}
          </Tick>
        ))}
        {progress.state === 'false' && (
          <RefutedMark>False: the node proves nothing of this. {progress.reason}</RefutedMark>
        )}
        {progress.state === 'stopped' && <NotChecked>{progress.reason}</NotChecked>}
      </div>
    </>
  );
}

/** Of a visitor who misses an output of a statement. */
export function MissedForm({ root }: { root: string }) {
  return (
    <div class="missed">
      <h3>Do you miss one?</h3>
      <RecordCheck root={root} />
    </div>
  );
}

export function FinalLedgerForm() {
  return (
    <section id="final-ledger">
      <h2>The final ledger</h2>
      <p>
        The network ended here. One hash, the final root, commits to every unspent output and every
        NFT. Take it from somebody you trust, not from this node: your browser checks the node’s
        proof that the ledger has an output or an NFT, or that it has not.
      </p>
      <RecordCheck />
    </section>
  );
}
