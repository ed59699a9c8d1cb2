/**
 * The same white-flag computation by the product and by the oracle, which must agree.
 */
import { expect } from 'vitest';
import { productWhiteFlag } from '../../../cli/conformance/product-white-flag.ts';
import type {
  ComputeWhiteFlag,
  WhiteFlagCase,
  WhiteFlagOutcome,
} from '../../../cli/conformance/white-flag.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import type { ParsedBlock } from '../../../src/stardust/wire/block.ts';
import { parsedBlock } from '../network/blocks.ts';
import { whiteFlag } from './oracle.ts';

/** The oracle in the form in which the conformance script takes an implementation. */
export const oracleWhiteFlag: ComputeWhiteFlag = async (given) => {
  const { blocks, parents, unspent, spent } = given;
  const named = [
    ...parents,
    ...[...blocks.values()].flatMap(({ block }) => block.parents.map(toHex)),
  ];
  const outputs = new Map([...unspent].map(([id, bytes]) => [id, { bytes }]));
  const result = await whiteFlag(
    {
      genesisMilestoneIndex: given.genesisMilestoneIndex,
      solidEntryPoints: new Set(named.filter((id) => !blocks.has(id))),
      blocks,
      referenced: new Set(),
      milestoneBlocks: new Set(
        [...blocks].filter(([, { milestone }]) => milestone !== undefined).map(([id]) => id),
      ),
      outputs,
      spent,
    },
    given,
  );
  const { order, inclusionMerkleRoot, appliedMerkleRoot, metPreviousMilestone } = result;
  return {
    order: order.map(({ id, isTransaction, reason }) => ({
      blockId: id,
      isTransaction,
      conflictReason: reason,
    })),
    inclusionMerkleRoot,
    appliedMerkleRoot,
    metPreviousMilestone,
  };
};

export async function bothWhiteFlags(given: WhiteFlagCase): Promise<WhiteFlagOutcome> {
  const outcome = await productWhiteFlag(given);
  expect(outcome).toEqual(await oracleWhiteFlag(given));
  return outcome;
}

/** Parsed blocks by hex ID, in the order given. */
export function parsedBlocks(...blocks: readonly Uint8Array[]): Map<string, ParsedBlock> {
  return new Map(blocks.map(parsedBlock).map((parsed) => [toHex(parsed.id), parsed]));
}
