/**
 * How amounts and addresses are written: as a network of the page's source has it, where the bytes
 * name that network (B.8), and otherwise as the node says.
 */
import type { NetworkWords } from '../../client/words/sentence.ts';
import type { Info } from '../node/shapes.ts';
import { RefutedMark } from '../parts/standing.tsx';
import { findNetwork } from '../verify/find-network.ts';

/** @param id of the network for which a transaction was signed; undefined where none is known */
export function networkWords(id: bigint | undefined, info: Info): NetworkWords {
  return findNetwork(id) ?? { bech32Hrp: info.protocol.bech32Hrp, baseToken: info.baseToken };
}

/** Says that the writing is the node's word, or where it is another one than the network's. */
export function NetworkNote({ id, info }: { id: bigint; info: Info }) {
  const known = findNetwork(id);
  const said = describe({ bech32Hrp: info.protocol.bech32Hrp, baseToken: info.baseToken });
  if (known === undefined)
    return (
      <p class="hint" data-standing="said">
        This node says that its network has {said}.
      </p>
    );
  return said === describe(known) ? null : (
    <RefutedMark>
      The node says that its network has {said}. The transaction was signed for {known.title}, which
      has {describe(known)}.
    </RefutedMark>
  );
}

function describe({ bech32Hrp, baseToken }: NetworkWords): string {
  return `${baseToken.tickerSymbol} with ${baseToken.decimals} decimals, and addresses that begin with ${bech32Hrp}`;
}
