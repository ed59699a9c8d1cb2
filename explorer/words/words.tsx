/**
 * Sentences, addresses, chains and tokens as parts of a page, with their links.
 */
import { formatTokens } from '../../client/words/amounts.ts';
import { type Chain, KIND_WORDS } from '../../client/words/kind.ts';
import {
  kindOfAddress,
  type NetworkWords,
  type Sentence,
  writePart,
} from '../../client/words/sentence.ts';
import { toBech32 } from '../../src/stardust/bech32.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import type { Address } from '../../src/stardust/wire/address.ts';
import type { NativeToken } from '../../src/stardust/wire/output.ts';
import { shorten } from '../format.ts';
import type { Info } from '../node/shapes.ts';
import { Foreign, Id, IdLink, To } from '../parts/parts.tsx';
import type { TokenClaims } from './token-claims.ts';

/** An address with its link; that of an alias or an NFT says so. */
export function AddressLink({ address, network }: { address: Address; network: NetworkWords }) {
  const bech32 = toBech32(network.bech32Hrp, address);
  return (
    <>
      {kindOfAddress(address)}
      <IdLink name="address" id={bech32} />
    </>
  );
}

/** Within a sentence: without a button. */
function PlainAddress({ address, network }: { address: Address; network: NetworkWords }) {
  const bech32 = toBech32(network.bech32Hrp, address);
  return (
    <>
      {kindOfAddress(address)}
      <To view={{ name: 'address', address: bech32 }}>
        <span class="mono" title={bech32}>
          {shorten(bech32)}
        </span>
      </To>
    </>
  );
}

export function SentenceText(props: { sentence: Sentence; network: NetworkWords }) {
  return (
    <p class="sentence">
      <SentenceWords {...props} />
    </p>
  );
}

export function SentenceWords({
  sentence,
  network,
}: {
  sentence: Sentence;
  network: NetworkWords;
}) {
  return (
    <>
      {sentence.map((part, i) =>
        typeof part === 'object' && 'address' in part ? (
          <PlainAddress key={i} address={part.address} network={network} />
        ) : (
          writePart(part, network)
        ),
      )}
    </>
  );
}

/** "NFT 0x0255e848…785aa7". */
export function ChainLink({ chain: { kind, id } }: { chain: Chain }) {
  return (
    <>
      {KIND_WORDS[kind]} <IdLink name={kind} id={id} />
    </>
  );
}

/** An amount of a native token, counted. */
export function TokenUnits({ token: { id, amount } }: { token: NativeToken }) {
  return (
    <>
      {formatTokens(amount, undefined)} of{' '}
      <Id id={toHex(id)} what="token ID" view={{ name: 'foundry', id: toHex(id) }} />
    </>
  );
}

/** Why no name stands beside an amount. */
export function TokenNote({ info: { indexed } }: { info: Info }) {
  return indexed.includes('foundry') ? null : (
    <p class="hint" data-standing="said">
      This node cannot look up foundries, it says: what they call their tokens is not shown.
    </p>
  );
}

/** An amount of a native token as its foundry claims that it is written. */
export function ClaimedAmount({
  token: { id, amount },
  claims,
}: {
  token: NativeToken;
  claims: TokenClaims;
}) {
  const claim = claims.get(toHex(id));
  if (claim === undefined) return null;
  return (
    <p class="note" data-standing="said">
      {'= '}
      <Foreign text={formatTokens(amount, claim)} />
      {claim.name !== claim.symbol && (
        <>
          {' '}
          (<Foreign text={claim.name} />)
        </>
      )}
      , its foundry claims
    </p>
  );
}
