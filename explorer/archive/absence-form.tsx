/**
 * Does the last ledger have the output that the visitor misses? Its proof, or that of its absence.
 */
import { useState } from 'preact/hooks';
import type { FinalRecord, Finding } from '../../src/stardust/provenance/provenance.ts';
import { asSentence } from '../format.ts';
import { HexField } from '../parts/hex-field.tsx';
import { Found, NotChecked } from '../parts/standing.tsx';
import { finalOutputHere } from '../verify/final-here.ts';

type Asked =
  | { state: 'idle' | 'running' }
  | { state: 'done'; finding: Finding<FinalRecord> }
  | { state: 'stopped'; reason: string };

export function AbsenceForm({ root }: { root: string }) {
  const [id, setId] = useState('');
  const [asked, setAsked] = useState<Asked>({ state: 'idle' });

  async function ask(): Promise<void> {
    if (asked.state === 'running') return;
    setAsked({ state: 'running' });
    try {
      setAsked({ state: 'done', finding: await finalOutputHere(root, id.trim()) });
    } catch (error) {
      setAsked({ state: 'stopped', reason: asSentence((error as Error).message) });
    }
  }

  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault();
        void ask();
      }}
    >
      <HexField label="ID of an output that you miss" name="missed" value={id} onChange={setId} />
      <button type="submit">Was it there?</button>
      <div role="status" class="absence">
        {asked.state === 'running' && <p class="loading">Checking …</p>}
        {asked.state === 'stopped' && <NotChecked>{asked.reason}</NotChecked>}
        {asked.state === 'done' && (
          <Found
            finding={asked.finding}
            words={({ id: found, present }) =>
              present
                ? `Output ${found} is in the ledger, unspent.`
                : `The ledger has no output ${found}: the records before and after its place are neighbours.`
            }
          />
        )}
      </div>
    </form>
  );
}
