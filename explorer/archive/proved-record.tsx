/**
 * What the final root proves of an output or an NFT, on its page: loaded at an ended network only.
 */
import type { FinalRecord } from '../../src/stardust/provenance/provenance.ts';
import { describeHolding, finalWords } from '../../verifier/words/holding.ts';
import { asSentence } from '../format.ts';
import { Id } from '../parts/parts.tsx';
import { Found, NotChecked } from '../parts/standing.tsx';
import { useLoad } from '../parts/use-load.ts';
import { finalOutputHere } from '../verify/final-here.ts';
import { RootForm, useFinalRoot } from './root-form.tsx';

/** @param id of an output or an NFT */
export function ProvedRecord({ id }: { id: string }) {
  const root = useFinalRoot();
  return (
    <section class="archive" aria-labelledby="archive-title">
      <h2 id="archive-title">Proved against the final root</h2>
      {root === undefined && (
        <p>
          The network ended here. One hash, the final root, commits to its whole ledger. Take it
          from somebody you trust, not from this node.
        </p>
      )}
      <RootForm />
      <div role="status">{root !== undefined && <Judged id={id} root={root} />}</div>
    </section>
  );
}

function Judged({ id, root }: { id: string; root: string }) {
  const judged = useLoad(() => finalOutputHere(root, id), [root, id]);
  if (judged.state === 'loading') return <p class="loading">Checking …</p>;
  if (judged.state === 'failed') return <NotChecked>{asSentence(judged.error.message)}</NotChecked>;
  return (
    <Found finding={judged.value} words={(record) => <Sentences record={record} page={id} />} />
  );
}

/** @param page ID of what the page is about */
function Sentences({ record, page }: { record: FinalRecord; page: string }) {
  if (!record.present)
    return <>The ledger has no {record.tree === 'nfts' ? 'NFT' : 'output'} with this ID.</>;
  // an NFT is asked for by the output that holds it
  if (record.tree === 'nfts') return <>It is in output {record.outputId}.</>;
  return (
    <>
      {record.id === page ? (
        'It is in the ledger, unspent.'
      ) : (
        <>
          It is in the ledger, in output{' '}
          <Id id={record.id} what="output ID" view={{ name: 'output', id: record.id }} />, which is
          unspent.
        </>
      )}
      {describeHolding(record, finalWords(record.networkName)).map((sentence, i) => (
        <span key={i} class="line">
          {' '}
          {sentence}
        </span>
      ))}
    </>
  );
}
