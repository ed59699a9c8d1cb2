/**
 * An alias or a foundry: who controls it, what it says of itself, and what it holds or mints.
 */
import { formatAmount, formatTokens, readTokenClaim } from '../../client/words/amounts.ts';
import { chainOf, KIND_WORDS } from '../../client/words/kind.ts';
import { toBech32 } from '../../src/stardust/bech32.ts';
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import type { Said } from '../../src/stardust/provenance/provenance.ts';
import { formatTime } from '../../src/stardust/provenance/words.ts';
import { AddressType } from '../../src/stardust/wire/address.ts';
import { FeatureType, findFeature } from '../../src/stardust/wire/feature.ts';
import {
  type AliasOutput,
  type FoundryOutput,
  type NativeToken,
  type Output,
  OutputType,
} from '../../src/stardust/wire/output.ts';
import { addressIn, UnlockConditionType } from '../../src/stardust/wire/unlock-condition.ts';
import { FoundryItems } from '../address/token-list.tsx';
import { ArchiveProof } from '../archive/archive-proof.tsx';
import { cut, formatCount, shorten } from '../format.ts';
import { NodeError } from '../node/ask.ts';
import { type ListedOutput, readFoundries, readIdOfChain } from '../node/lists.ts';
import { readLedgerOutput } from '../node/outputs.ts';
import { type Info, indexesAll, saysEnded } from '../node/shapes.ts';
import {
  Awaited,
  Facts,
  Folded,
  Foreign,
  Head,
  Id,
  IdLink,
  MilestoneText,
} from '../parts/parts.tsx';
import { NotChecked, SaidByNode } from '../parts/standing.tsx';
import { useLoad } from '../use-load.ts';
import { DataText } from '../words/data-text.tsx';
import { networkWords } from '../words/network.tsx';
import { useTokenClaims } from '../words/token-claims.ts';
import { AddressLink, ClaimedAmount, TokenUnits } from '../words/words.tsx';
import { ProofOfOutput } from './proof-of-output.tsx';

type ChainKind = 'alias' | 'foundry';

async function readChain(kind: ChainKind, id: string): Promise<Said<ListedOutput>> {
  const outputId = await readIdOfChain(kind, id);
  const { said } = await readLedgerOutput(outputId);
  const chain = chainOf(said.output, fromHex(outputId));
  if (chain?.kind !== kind || chain.id !== id)
    throw new NodeError(0, `The node was asked for ${kind} ${id}, and answers another one.`);
  return { said: { ...said, outputId } };
}

interface ChainProps {
  kind: ChainKind;
  id: string;
  info: Info;
}

export function ChainView({
  name: kind,
  id: typed,
  info,
}: Omit<ChainProps, 'kind'> & { name: ChainKind }) {
  const id = typed.toLowerCase();
  return indexesAll(info) ? (
    <IndexedChain kind={kind} id={id} info={info} />
  ) : (
    <section class="page missing">
      <Head kind={KIND_WORDS[kind]}>Not indexed here</Head>
      <p>
        <Id id={id.slice(0, 200)} what="the ID" whole />
      </p>
      <p class="reason">
        This node lists NFTs alone, it says, and cannot look up{' '}
        {kind === 'alias' ? 'an alias' : 'a foundry'} by its ID. A node with <code>INDEX=all</code>{' '}
        can.
      </p>
    </section>
  );
}

function IndexedChain({ kind, id, info }: ChainProps) {
  const loaded = useLoad(() => readChain(kind, id), [kind, id]);
  return (
    <Awaited
      loaded={loaded}
      kind={KIND_WORDS[kind]}
      id={id}
      missing={`This node says that no unspent output holds ${kind === 'alias' ? 'an alias' : 'a foundry'} with this ID: it was never created, or it was destroyed. That is not checked: a node can leave one out.`}
    >
      {(read) => <ChainPage kind={kind} id={id} read={read} info={info} />}
    </Awaited>
  );
}

function ChainPage({ kind, id, read, info }: ChainProps & { read: Said<ListedOutput> }) {
  const { output, outputId, json } = read.said;
  const claim = output.type === OutputType.Foundry ? readTokenClaim(output) : undefined;
  return (
    <article class="page">
      <Head
        kind={KIND_WORDS[kind]}
        api={`/api/indexer/v1/outputs/${kind}/${id}`}
        title={`${claim?.name ?? ''} ${shorten(id)}`.trim()}
        id={<Id id={id} what={`${KIND_WORDS[kind]} ID`} />}
      >
        {claim !== undefined ? (
          <Foreign text={cut(claim.name)} />
        ) : kind === 'alias' ? (
          'An alias'
        ) : (
          'A token without a name'
        )}
      </Head>
      <SaidByNode of={read} proof={<ProofOfOutput outputId={outputId} info={info} />}>
        {(said) =>
          said.output.type === OutputType.Alias ? (
            <AliasFacts id={id} said={said} alias={said.output} info={info} />
          ) : (
            <FoundryFacts id={id} said={said} foundry={said.output as FoundryOutput} info={info} />
          )
        }
      </SaidByNode>
      <ArchiveProof id={outputId} info={info} said={read.said} />
      {output.type === OutputType.Alias && <Foundries id={id} info={info} />}
      {output.type === OutputType.Foundry && (
        <p class="hint">
          Who {saysEnded(info) ? 'held' : 'holds'} its tokens this node cannot list: no index of
          TIP-26 has outputs by token. The page of an address has the tokens of that address.
        </p>
      )}
      <Metadata output={output} />
      <Folded
        title="Output as JSON, this node says"
        text={() => JSON.stringify(json, undefined, 2)}
      />
    </article>
  );
}

interface FactsProps extends Omit<ChainProps, 'kind'> {
  said: ListedOutput;
}

function AliasFacts({ id, said, alias, info }: FactsProps & { alias: AliasOutput }) {
  const network = networkWords(undefined, info);
  const hrp = info.protocol.bech32Hrp;
  const own = toBech32(hrp, { type: AddressType.Alias, id: fromHex(id) });
  const issuer = findFeature(alias.immutableFeatures, FeatureType.Issuer)?.address;
  const sender = findFeature(alias.features, FeatureType.Sender)?.address;
  const controller = addressIn(alias, UnlockConditionType.StateController);
  const governor = addressIn(alias, UnlockConditionType.Governor);
  return (
    <Facts
      rows={[
        [
          'State controller',
          <>
            <AddressLink address={controller} network={network} />
            <p class="note">changes its state, mints by its foundries, and moves what it holds</p>
          </>,
        ],
        [
          'Governor',
          <>
            <AddressLink address={governor} network={network} />
            <p class="note">changes its controllers and features, and can destroy it</p>
          </>,
        ],
        ['State index', formatCount(alias.stateIndex)],
        ['Foundries', formatCount(alias.foundryCounter)],
        [
          'Its address',
          <>
            <IdLink name="address" id={own} />
            <p class="note">what that address holds, this alias unlocks</p>
          </>,
        ],
        ['Issuer', issuer && <AddressLink address={issuer} network={network} />],
        ['Sender', sender && <AddressLink address={sender} network={network} />],
        ...commonRows(said, info),
      ]}
    />
  );
}

function FoundryFacts({ id, said, foundry, info }: FactsProps & { foundry: FoundryOutput }) {
  const { minted, melted, maximumSupply } = foundry.tokenScheme;
  const claim = readTokenClaim(foundry);
  const tokens = (amount: bigint) => <Foreign text={formatTokens(amount, claim)} />;
  const owner = addressIn(foundry, UnlockConditionType.ImmutableAlias);
  const aliasId = toHex(owner.id);
  return (
    <Facts
      rows={[
        [
          'Token',
          claim && (
            <>
              <Foreign text={`${claim.name} (${claim.symbol}), ${claim.decimals} decimals`} />
              <p class="note">
                as its foundry claims: anybody can claim any name, the ID nobody can
              </p>
            </>
          ),
        ],
        ['Supply', tokens(minted - melted)],
        ['Minted', tokens(minted)],
        ['Melted', melted > 0n && tokens(melted)],
        [
          'At most',
          <>
            {tokens(maximumSupply)}
            <p class="note">by a simple token scheme: the ledger allows no more</p>
          </>,
        ],
        [
          'Controlled by',
          <>
            alias <IdLink name="alias" id={aliasId} />
            <p class="note">its state controller mints and melts</p>
          </>,
        ],
        ['Serial number', `${foundry.serialNumber}`],
        ['Token ID', <Id id={id} what="token ID" />],
        ...commonRows(said, info),
      ]}
    />
  );
}

function commonRows({ output, outputId, metadata }: ListedOutput, info: Info) {
  return [
    ['Deposit', formatAmount(output.amount, info.baseToken)],
    [
      'Native tokens',
      output.nativeTokens.length > 0 && <OwnTokens tokens={output.nativeTokens} info={info} />,
    ],
    ['Output', <IdLink name="output" id={outputId} />],
    [
      'As it is since',
      <>
        {formatTime(metadata.milestoneTimestampBooked)} UTC,{' '}
        <MilestoneText index={metadata.milestoneIndexBooked} info={info} />
      </>,
    ],
    ['Said at', `ledger index ${metadata.ledgerIndex}`],
  ] as const;
}

function OwnTokens({ tokens, info }: { tokens: readonly NativeToken[]; info: Info }) {
  const claims = useTokenClaims(tokens, info);
  return (
    <>
      {tokens.map((token) => (
        <div key={toHex(token.id)}>
          <TokenUnits token={token} />
          <ClaimedAmount token={token} claims={claims} />
        </div>
      ))}
    </>
  );
}

/** Each is read for its name. */
const MAX_FOUNDRIES = 50;

function Foundries({ id, info }: { id: string; info: Info }) {
  const aliasAddress = toBech32(info.protocol.bech32Hrp, {
    type: AddressType.Alias,
    id: fromHex(id),
  });
  const loaded = useLoad(
    () => readFoundries({ aliasAddress }, (ids) => ids.slice(0, MAX_FOUNDRIES)),
    [id],
  );
  if (loaded.state === 'loading') return null;
  if (loaded.state === 'failed')
    return <NotChecked>its foundries. {loaded.error.message}</NotChecked>;
  const { foundries, count } = loaded.value;
  if (count === 0) return null;
  return (
    <section class="said" data-standing="said" aria-labelledby="foundries-title">
      <h2 id="foundries-title">Its foundries</h2>
      <p class="said-label">This node says. Not checked. The newest first.</p>
      <FoundryItems foundries={foundries} />
      {count > MAX_FOUNDRIES && (
        <p class="hint">and {formatCount(count - MAX_FOUNDRIES)} more, in the API</p>
      )}
    </section>
  );
}

/** Bytes of anybody, as text. */
function Metadata({ output }: { output: Output }) {
  const parts = [
    ['State metadata', output.type === OutputType.Alias ? output.stateMetadata : undefined],
    ['Metadata', findFeature(output.features, FeatureType.Metadata)?.data],
    [
      'Immutable metadata',
      'immutableFeatures' in output
        ? findFeature(output.immutableFeatures, FeatureType.Metadata)?.data
        : undefined,
    ],
  ] as const;
  const shown = parts.filter(([, bytes]) => bytes !== undefined && bytes.length > 0);
  if (shown.length === 0) return null;
  return (
    <section aria-labelledby="chain-says" class="claims">
      <h2 id="chain-says">What it says of itself</h2>
      <p class="hint">
        Nobody has verified this. Whoever controls it could write anything here, and so could this
        node.
      </p>
      {shown.map(([title, bytes]) => (
        <DataText key={title} title={title} bytes={bytes!} />
      ))}
    </section>
  );
}
