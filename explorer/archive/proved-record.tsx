/**
 * What the final root proves of an output or an NFT, on its page: loaded at an ended network only.
 */
import { describeRecord } from '../../client/words/holding.ts';
import { provedValue } from '../../src/stardust/provenance/final.ts';
import { asSentence } from '../format.ts';
import { differenceOfRecord, type ShownNft } from '../nft/difference.ts';
import type { LedgerOutputJson } from '../node/outputs.ts';
import { CheckResult, NotChecked, RefutedMark, Tick } from '../parts/standing.tsx';
import { useLoad } from '../use-load.ts';
import { finalOutputHere } from '../verify/final-here.ts';
import { RootForm, useFinalRoot } from './root-form.tsx';

export interface Recorded {
  /** Of an output or an NFT. */
  id: string;
  /** What the page shows of it, if it does. */
  said?: ShownNft | LedgerOutputJson;
}

export function ProvedRecord(recorded: Recorded) {
  const root = useFinalRoot();
  return (
    <section class="archive" aria-labelledby="archive-title">
      <h2 id="archive-title">What the final root says of it</h2>
      {root === undefined && (
        <p>
          The network ended here. One hash, the final root, commits to its whole ledger. Take it
          from somebody you trust, not from this node.
        </p>
      )}
      <RootForm />
      <div role="status">{root !== undefined && <Judged {...recorded} root={root} />}</div>
    </section>
  );
}

function Judged({ id, said, root }: Recorded & { root: string }) {
  const judged = useLoad(() => finalOutputHere(root, id), [root, id]);
  if (judged.state === 'loading') return <p class="loading">Checking …</p>;
  if (judged.state === 'failed') return <NotChecked>{asSentence(judged.error.message)}</NotChecked>;
  const finding = judged.value;
  if (finding.standing !== 'proved') return <CheckResult finding={finding} words={() => ''} />;
  const difference = said && differenceOfRecord(said, provedValue(finding.proof));
  return (
    <>
      {difference !== undefined && <RefutedMark>The node shows {difference}.</RefutedMark>}
      {describeRecord(finding.proof).map((sentence, i) => (
        <Tick key={i} proof={sentence}>
          {(text) => text}
        </Tick>
      ))}
    </>
  );
}
