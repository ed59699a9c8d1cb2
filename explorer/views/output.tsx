/**
 * An output by its ID.
 */
import { blake2b256 } from '../../src/stardust/crypto/hash.ts';
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import type { Said } from '../../src/stardust/provenance/provenance.ts';
import { formatTime } from '../../src/stardust/provenance/words.ts';
import { formatAmount } from '../../verifier/words/amounts.ts';
import { readOutput } from '../node/ledger.ts';
import type { Info, Output, OutputAnswer } from '../node/shapes.ts';
import { Awaited, Facts, Folded, Head, Id, To } from '../parts/parts.tsx';
import { SaidByNode } from '../parts/standing.tsx';
import { useLoad } from '../parts/use-load.ts';
import { ProofOfOutput } from './verify-final.tsx';

const KINDS: Record<number, string> = {
  2: 'Treasury output',
  3: 'Basic output',
  4: 'Alias output',
  5: 'Foundry output',
  6: 'NFT output',
};

export function OutputView({ id, info }: { id: string; info: Info }) {
  const loaded = useLoad(() => readOutput(id), [id]);
  return (
    <Awaited
      loaded={loaded}
      kind="Output"
      id={id}
      missing="This node does not know the output, it says: it never existed, or it was spent so long ago that the node keeps it no more."
    >
      {(answer) => <OutputPage id={id.toLowerCase()} answer={answer} info={info} />}
    </Awaited>
  );
}

function OutputPage({ id, answer, info }: { id: string; answer: Said<OutputAnswer>; info: Info }) {
  return (
    <article class="page">
      <Head kind="Output">
        <Id id={id} what="output ID" />
      </Head>
      <SaidByNode of={answer} proof={<ProofOfOutput id={id} outputId={id} info={info} />}>
        {(said) => <SaidOutput id={id} {...said} info={info} />}
      </SaidByNode>
    </article>
  );
}

function SaidOutput({ id, output, metadata, info }: OutputAnswer & { id: string; info: Info }) {
  const nftId = nftIdOf(id, output);
  const { milestoneIndexSpent, milestoneTimestampSpent, transactionIdSpent } = metadata;
  return (
    <>
      <Facts
        rows={[
          ['Kind', KINDS[output.type]],
          ['NFT', nftId && <Id id={nftId} what="NFT ID" view={{ name: 'nft', id: nftId }} />],
          ['Amount', output.amount && formatAmount(output.amount, info.baseToken)],
          [
            'State',
            metadata.isSpent ? (
              <>
                spent
                {milestoneTimestampSpent !== undefined &&
                  ` on ${formatTime(milestoneTimestampSpent)} UTC`}
                {milestoneIndexSpent !== undefined && (
                  <>
                    , by{' '}
                    <To view={{ name: 'milestone', milestone: String(milestoneIndexSpent) }}>
                      milestone {milestoneIndexSpent}
                    </To>
                  </>
                )}
              </>
            ) : (
              `unspent at ledger index ${metadata.ledgerIndex}`
            ),
          ],
          [
            'Spent by',
            metadata.isSpent && transactionIdSpent && (
              <Id
                id={transactionIdSpent}
                what="transaction ID"
                view={{ name: 'transaction', id: transactionIdSpent }}
              />
            ),
          ],
          [
            'Created by',
            <>
              <To view={{ name: 'milestone', milestone: String(metadata.milestoneIndexBooked) }}>
                milestone {metadata.milestoneIndexBooked}
              </To>
              , {formatTime(metadata.milestoneTimestampBooked)} UTC
            </>,
          ],
          [
            'Transaction',
            <Id
              id={metadata.transactionId}
              what="transaction ID"
              view={{ name: 'transaction', id: metadata.transactionId }}
            />,
          ],
          [
            'Block',
            <Id
              id={metadata.blockId}
              what="block ID"
              view={{ name: 'block', id: metadata.blockId }}
            />,
          ],
        ].map(([term, value]) => [term as string, value || undefined] as const)}
      />
      <Folded title="Output as JSON" text={() => JSON.stringify(output, undefined, 2)} />
    </>
  );
}

/** B.6: a new NFT has the zero ID in its output; its ID is the hash of the output's. */
function nftIdOf(outputId: string, { type, nftId }: Output): string | undefined {
  if (type !== 6 || nftId === undefined) return undefined;
  return /^0x0+$/.test(nftId) ? toHex(blake2b256(fromHex(outputId))) : nftId;
}
