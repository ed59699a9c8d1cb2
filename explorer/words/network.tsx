/**
 * How amounts and addresses are written: as a network of the page's source has it, where the bytes
 * name that network (B.8), and otherwise as the node says.
 */
import { networkId } from '../../src/stardust/wire/ids.ts';
import { KNOWN_NETWORKS } from '../../verifier/known-networks.ts';
import type { NetworkWords } from '../../verifier/words/sentence.ts';
import type { Info } from '../node/shapes.ts';
import { Refuted } from '../parts/standing.tsx';

/** @param id of the network for which a transaction was signed; undefined where none is known */
export function networkWords(id: bigint | undefined, info: Info): NetworkWords {
  return findNetwork(id) ?? { bech32Hrp: info.protocol.bech32Hrp, baseToken: info.baseToken };
}

function findNetwork(id: bigint | undefined) {
  return KNOWN_NETWORKS.find(({ networkName }) => networkId(networkName) === id);
}

/** Says where the writing is from, and where the node has another one. */
export function NetworkNote({ id, info }: { id: bigint; info: Info }) {
  const known = findNetwork(id);
  const { bech32Hrp: said } = info.protocol;
  const { decimals, tickerSymbol } = info.baseToken;
  if (known === undefined)
    return (
      <p class="hint" data-standing="said">
        That amounts have {decimals} decimals and are in {tickerSymbol}, and that addresses begin
        with {said}, this node says.
      </p>
    );
  const { title, bech32Hrp, baseToken } = known;
  const isTrue =
    said === bech32Hrp &&
    decimals === baseToken.decimals &&
    tickerSymbol === baseToken.tickerSymbol;
  return isTrue ? null : (
    <Refuted>
      The node says that amounts have {decimals} decimals and are in {tickerSymbol}, and that
      addresses begin with {said}. The transaction was signed for {title}, which has{' '}
      {baseToken.decimals} decimals, {baseToken.tickerSymbol} and {bech32Hrp}.
    </Refuted>
  );
}
