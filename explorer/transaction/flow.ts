/**
 * A transaction as a flow: what goes in, what comes out, and what both sides hold together.
 */
import { type Chain, chainOf } from '../../client/words/kind.ts';
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import { type Address, AddressType } from '../../src/stardust/wire/address.ts';
import { consumedIds, ed25519AddressId, outputId } from '../../src/stardust/wire/ids.ts';
import type { NativeToken, Output } from '../../src/stardust/wire/output.ts';
import type { Transaction } from '../../src/stardust/wire/transaction.ts';
import { UnlockType } from '../../src/stardust/wire/unlock.ts';

/** An output on one of the two sides. */
export interface FlowOutput {
  /** 0x…, 34 bytes. */
  id: string;
  output: Output;
  chain: Chain | undefined;
}

/** An input; without its output, where that did not come. */
export type FlowInput = {
  id: string;
  /** The address that unlocks it; undefined where that is a chain whose output did not come. */
  by: Address | undefined;
} & (FlowOutput | { output: undefined; chain: undefined });

/** What outputs hold together. */
export interface HeldTogether {
  amount: bigint;
  /** Native tokens, by ascending ID. */
  tokens: readonly NativeToken[];
}

export interface TransactionFlow {
  inputs: readonly FlowInput[];
  outputs: readonly FlowOutput[];
  /** Undefined unless the output of each input is known. */
  consumed: HeldTogether | undefined;
  created: HeldTogether;
}

/**
 * @param transaction with its ID, 32 bytes
 * @param consumed the outputs of the inputs, in their order; undefined where one is not known
 */
export function readTransactionFlow(
  { value, id }: { value: Transaction; id: Uint8Array },
  consumed: readonly (Output | undefined)[],
): TransactionFlow {
  const { essence } = value;
  const known = consumed.filter((output) => output !== undefined);
  const sources = consumedIds(essence).map((ownId, i) => {
    const output = consumed[i];
    return output === undefined
      ? { id: toHex(ownId), output, chain: undefined }
      : flowOutput(ownId, output);
  });
  return {
    inputs: sources.map((source, i) => ({ ...source, by: unlockerOf(value, sources, i) })),
    outputs: essence.outputs.map((output, i) => flowOutput(outputId(id, i), output)),
    consumed: known.length === essence.inputs.length ? addUp(known) : undefined,
    created: addUp(essence.outputs),
  };
}

/** Whom the unlock of an input names: the hash of a public key (B.11), an alias or an NFT. */
function unlockerOf(
  transaction: Transaction,
  sources: readonly Pick<FlowInput, 'chain'>[],
  place: number,
): Address | undefined {
  const unlock = transaction.unlocks[place]!;
  switch (unlock.type) {
    case UnlockType.Signature:
      return { type: AddressType.Ed25519, id: ed25519AddressId(unlock.signature.publicKey) };
    case UnlockType.Reference:
      // C-39, C-40: it names a signature before it
      return unlock.reference < place
        ? unlockerOf(transaction, sources, unlock.reference)
        : undefined;
    default: {
      const chain = sources[unlock.reference]?.chain;
      const type = unlock.type === UnlockType.Alias ? AddressType.Alias : AddressType.Nft;
      const kind = type === AddressType.Alias ? 'alias' : 'nft';
      return chain?.kind === kind ? { type, id: fromHex(chain.id) } : undefined;
    }
  }
}

function flowOutput(ownId: Uint8Array, output: Output): FlowOutput {
  return { id: toHex(ownId), output, chain: chainOf(output, ownId) };
}

/** What outputs hold together. Sums do not wrap: what is too much is shown as it is. */
function addUp(outputs: readonly Output[]): HeldTogether {
  const tokens = new Map<string, NativeToken>();
  for (const { id, amount } of outputs.flatMap(({ nativeTokens }) => nativeTokens)) {
    const key = toHex(id);
    tokens.set(key, { id, amount: amount + (tokens.get(key)?.amount ?? 0n) });
  }
  return {
    amount: outputs.reduce((sum, { amount }) => sum + amount, 0n),
    tokens: [...tokens].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, token]) => token),
  };
}
