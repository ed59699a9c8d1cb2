/**
 * An NFT: what the node says of it first, and then, under a heading that says so, what its own
 * metadata claims.
 */
import { formatAmount } from '../../client/words/amounts.ts';
import { toBech32 } from '../../src/stardust/bech32.ts';
import { fromHex } from '../../src/stardust/encoding/bytes.ts';
import type { Said } from '../../src/stardust/provenance/provenance.ts';
import { formatTime } from '../../src/stardust/provenance/words.ts';
import { ARCHIVE_PROOF, ArchiveProof } from '../archive/archive-proof.tsx';
import { cut, formatShare, MAX_NAME, prettify, shorten } from '../format.ts';
import { type Claims, readChangeable, readMetadata } from '../nft/claims.ts';
import type { ShownNft } from '../nft/difference.ts';
import { Picture } from '../nft/picture.tsx';
import {
  burningOf,
  CertificateFault,
  CheckedState,
  type FirstPage,
  History,
  type Of,
  OwnerLine,
  useCertificate,
} from '../nft/provenance.tsx';
import { readKnownNft } from '../node/ledger.ts';
import { type Info, type JsonAddress, type NftHistoryJson, saysEnded } from '../node/shapes.ts';
import {
  Awaited,
  Facts,
  Folded,
  Foreign,
  Head,
  Id,
  IdLink,
  MilestoneText,
  To,
} from '../parts/parts.tsx';
import { OutcomeLine, SaidByNode } from '../parts/standing.tsx';
import { useLoad } from '../use-load.ts';

const ISSUER_FEATURE = 1;
const TAG_FEATURE = 3;

export function NftView({ id, info }: { id: string; info: Info }) {
  const loaded = useLoad(() => readKnownNft(id, false), [id]);
  return (
    <>
      <Awaited
        loaded={loaded}
        kind="NFT"
        id={id}
        missing="This node says that no unspent output holds an NFT with this ID: it was never minted, or it was burned. That is not checked: a node can leave one out."
      >
        {(found) =>
          'gone' in found ? (
            <Burned nftId={id.toLowerCase()} history={found.gone} info={info} />
          ) : (
            <NftPage of={found.nft} history={found.history} info={info} />
          )
        }
      </Awaited>
      {loaded.state === 'failed' && <ArchiveProof id={id.toLowerCase()} info={info} />}
    </>
  );
}

function proofOf(info: Info) {
  return saysEnded(info)
    ? ARCHIVE_PROOF
    : 'its certificate, that it came to this output. That nothing came after it, no answer of one node proves: ask others.';
}

/** An NFT that nothing holds any more: what became of it, and the proof that it was burned. */
function Burned({ nftId, history, info }: Of & { history: Said<NftHistoryJson> }) {
  const judged = useCertificate(nftId);
  const [last] = history.said.changes;
  return (
    <article class="page">
      <Head
        kind="NFT"
        title={shorten(nftId)}
        api={`/api/edge/v1/nfts/${nftId}/history`}
        id={<Id id={nftId} what="NFT ID" />}
      >
        {last?.kind === 'burned' ? 'Burned' : 'Said to be gone'}
      </Head>
      <CertificateFault judged={judged} said={undefined} />
      {last !== undefined && (
        <OutcomeLine proof={burningOf(judged, last)}>
          {last.kind === 'burned' ? 'Burned' : 'Changed last'} ·{' '}
          {formatTime(last.milestoneTimestamp)} UTC,{' '}
          <MilestoneText index={last.milestoneIndex} info={info} />
        </OutcomeLine>
      )}
      {last?.kind !== 'burned' && (
        <p data-standing="said">This node says that no unspent output holds an NFT with this ID.</p>
      )}
      <CheckedState judged={judged} said={undefined} />
      <History nftId={nftId} first={history} info={info} />
    </article>
  );
}

function NftPage({ of, history, info }: { of: Said<ShownNft>; history: FirstPage; info: Info }) {
  const nft = of.said;
  const metadata = readMetadata(nft.output);
  const changeable = readChangeable(nft.output);
  const claims = metadata?.claims;
  const title = claims?.name ?? `NFT ${shorten(nft.nftId)}`;
  const judged = useCertificate(saysEnded(info) ? undefined : nft.nftId);
  return (
    <article class="page">
      <Head
        kind="NFT"
        title={title}
        api={`/api/edge/v1/nfts/${nft.nftId}`}
        id={<Id id={nft.nftId} what="NFT ID" />}
      >
        {claims?.name === undefined ? 'An NFT without a name' : <Foreign text={cut(claims.name)} />}
      </Head>
      <CertificateFault judged={judged} said={nft} />
      <div class="columns">
        <Picture nftId={nft.nftId} uri={claims?.uri} type={claims?.type} title={title} />
        <div>
          <OwnerLine nft={nft} judged={judged} />
          <SaidByNode of={of} proof={proofOf(info)}>
            {(nft) => <LedgerFacts nft={nft} info={info} />}
          </SaidByNode>
          <ArchiveProof id={nft.nftId} info={info} said={nft} />
          {!saysEnded(info) && <CheckedState judged={judged} said={nft} />}
          <section aria-labelledby="nft-says" class="claims">
            <h2 id="nft-says">What this NFT says of itself</h2>
            <p class="hint">
              {metadata === undefined
                ? 'Nothing: it has no metadata.'
                : 'Nobody has verified this. Whoever minted it could write anything here, and so could this node.'}
            </p>
            {claims !== undefined && <ClaimedFacts claims={claims} />}
            {metadata !== undefined && (
              <Folded
                title={claims ? 'Metadata as JSON' : 'Metadata as text'}
                text={() => prettify(metadata.text)}
              />
            )}
            {changeable !== undefined && (
              <>
                <h3>What its owner wrote, and may change</h3>
                <p class="foreign changeable">
                  <Foreign text={cut(changeable)} />
                </p>
                {changeable.length > MAX_NAME && (
                  <Folded title="All of it" text={() => prettify(changeable)} />
                )}
              </>
            )}
          </section>
        </div>
      </div>
      <History nftId={nft.nftId} first={history} info={info} />
      <Folded
        title="Output as JSON, this node says"
        text={() => JSON.stringify(nft.output, undefined, 2)}
      />
    </article>
  );
}

function LedgerFacts({ nft, info }: { nft: ShownNft; info: Info }) {
  const { owner, output, metadata } = nft;
  const issuer = output.immutableFeatures?.find(({ type }) => type === ISSUER_FEATURE)?.address;
  const tag = output.features?.find(({ type }) => type === TAG_FEATURE)?.tag;
  return (
    <Facts
      rows={[
        ['Issuer', issuer === undefined ? 'none' : <Issuer address={issuer} info={info} />],
        [
          'Owner',
          <>
            <IdLink name="address" id={owner.address} />
            {!owner.canUnlock && owner.timelockedUntil !== undefined && (
              <p class="note">cannot move it before {formatTime(owner.timelockedUntil)} UTC</p>
            )}
            {owner.passesTo !== undefined && (
              <p class="note">
                passes to <IdLink name="address" id={owner.passesTo.address} /> on{' '}
                {formatTime(owner.passesTo.unixTime)} UTC, if it is not moved before
              </p>
            )}
          </>,
        ],
        [
          'Held since',
          <>
            {formatTime(metadata.milestoneTimestampBooked)} UTC,{' '}
            <MilestoneText index={metadata.milestoneIndexBooked} info={info} />
          </>,
        ],
        ['Output', <IdLink name="output" id={nft.outputId} />],
        ['Deposit', output.amount && formatAmount(output.amount, info.baseToken)],
        ['Tag', tag && <Foreign text={readTag(tag)} />],
        ['Said at', `ledger index ${nft.ledgerIndex}`],
      ]}
    />
  );
}

/** The ledger's own: nobody can mint under an issuer without its keys. */
function Issuer({ address, info }: { address: JsonAddress; info: Info }) {
  const { type, ...of } = address;
  const bech32 = toBech32(info.protocol.bech32Hrp, { type, id: fromHex(Object.values(of)[0]!) });
  return (
    <>
      {address.type === 16 ? (
        <>
          NFT{' '}
          <Id id={address.nftId} what="issuer's NFT ID" view={{ name: 'nft', id: address.nftId }} />
        </>
      ) : (
        <Id id={bech32} what="issuer's address" view={{ name: 'address', address: bech32 }} />
      )}
      <p class="note">
        <To view={{ name: 'issuer', address: bech32 }}>All NFTs of this issuer</To>
      </p>
    </>
  );
}

const MAX_TRAITS = 60;

function ClaimedFacts({ claims }: { claims: Claims }) {
  const { name, collectionName, issuerName, type, uri, description, traits, royalties } = claims;
  return (
    <>
      {name !== undefined && (
        <p class="name">
          <Foreign text={name} />
        </p>
      )}
      <Facts
        rows={[
          ['Collection', collectionName && <Foreign text={collectionName} />],
          ['Issuer, it says', issuerName && <Foreign text={issuerName} />],
          ['Description', description && <Foreign text={description} />],
          [
            'Royalties',
            royalties.length > 0 &&
              royalties.slice(0, MAX_TRAITS).map(({ address, share }) => (
                <p key={address}>
                  {formatShare(share)} to <Royal address={address} />
                </p>
              )),
          ],
          ['Type', type && <Foreign text={type} />],
          [
            'Picture',
            uri && (
              <span class="mono whole">
                <Foreign text={uri} />
              </span>
            ),
          ],
        ]}
      />
      {traits.length > 0 && (
        <ul class="chips" aria-label="Traits">
          {traits.slice(0, MAX_TRAITS).map(({ name, value }, i) => (
            <li key={i}>
              <span>
                <Foreign text={name} />
              </span>{' '}
              <Foreign text={value} />
            </li>
          ))}
          {traits.length > MAX_TRAITS && (
            <li>and {traits.length - MAX_TRAITS} more, in the JSON</li>
          )}
        </ul>
      )}
    </>
  );
}

/** An address leads to its gallery; whatever else stands there is text. */
function Royal({ address }: { address: string }) {
  return /^[a-z]{1,10}1[0-9a-z]{38,90}$/.test(address) ? (
    <IdLink name="address" id={address} />
  ) : (
    <span class="mono whole">
      <Foreign text={address} />
    </span>
  );
}

/** A tag is text, mostly. */
function readTag(hex: string): string {
  const text = new TextDecoder().decode(fromHex(hex.length % 2 === 0 ? hex : '0x'));
  return /^[\x20-\x7e]+$/.test(text) ? text : hex;
}
