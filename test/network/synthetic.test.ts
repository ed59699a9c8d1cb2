/**
 * Made-up networks: what they decide is what the oracle (../oracle) decides, which judges transactions and looks blocks up by itself.
 */
import { describe, expect, it } from 'vitest';
import { inadmissible } from '../../src/stardust/admission.ts';
import { type ParsedBlock, parseBlock } from '../../src/stardust/block.ts';
import { fromHex, toHex } from '../../src/stardust/bytes.ts';
import { verifyEd25519 } from '../../src/stardust/ed25519.ts';
import { isMilestoneBlock, unsigned } from '../../src/stardust/milestone-keys.ts';
import { whiteFlag } from '../oracle/white-flag.ts';
import { readMilestone } from './blocks.ts';
import { keyPair } from './keys.ts';
import { extraSignature, fewerSignatures, forgedSignature, resign } from './milestones.ts';
import { coneOf, ledgerAt, type Network, parametersAt, stateHash, ZERO_ID } from './model.ts';
import { randomNetwork } from './random-network.ts';
import { SyntheticNetwork } from './synthetic.ts';

function parsedBlocks(network: Network): Map<string, ParsedBlock> {
  return new Map(
    [...network.blocks.values()].map(({ id, bytes }) => {
      const result = parseBlock(bytes);
      if (!result.ok) throw new Error(result.reason);
      return [id, result.parsed];
    }),
  );
}

describe.each(['one', 'two', 'three'])('a random network (%s)', (seed) => {
  const network = randomNetwork({ seed, milestones: 14, events: 60 });
  const parsed = parsedBlocks(network);

  it('has admissible blocks only, with the IDs of their bytes', () => {
    for (const [id, block] of parsed) {
      expect(toHex(block.id)).toBe(id);
      expect(inadmissible(block, network.genesis.parameters)).toBeUndefined();
    }
  });

  it('knows which blocks are milestone blocks', async () => {
    for (const [id, block] of parsed) {
      const carries = await isMilestoneBlock(block, network.keys, verifyEd25519);
      expect(network.blocks.get(id)!.milestoneIndex, id).toBe(carries ? block.milestone!.value.index : undefined);
    }
  });

  it('decides every milestone as the oracle does', async () => {
    const milestoneBlocks = [...network.blocks.values()].filter(({ milestoneIndex }) => milestoneIndex !== undefined);
    for (const { index, timestamp, payload } of network.milestones) {
      const value = readMilestone(payload);
      const before = [...network.outputs.values()].filter(({ bookedIndex }) => bookedIndex < index);
      const result = await whiteFlag(
        {
          genesisMilestoneIndex: 0,
          solidEntryPoints: new Set([ZERO_ID]),
          blocks: parsed,
          referenced: new Set(
            [...network.blocks.values()].filter((b) => (b.referenced?.index ?? index) < index).map((b) => b.id),
          ),
          milestoneBlocks: new Set(milestoneBlocks.map(({ id }) => id)),
          outputs: new Map(before.map((output) => [toHex(output.outputId), output])),
          spent: new Set(
            before.filter(({ spent }) => (spent?.index ?? index) < index).map((each) => toHex(each.outputId)),
          ),
        },
        { index, timestamp, parents: value.parents.map(toHex), previousMilestoneId: toHex(value.previousMilestoneId) },
      );
      expect(result.metPreviousMilestone).toBe(true);
      expect(coneOf(network, index).map(({ id, referenced }) => ({ id, reason: referenced!.conflict }))).toEqual(
        result.order.map(({ id, reason }) => ({ id, reason })),
      );
      expect([toHex(value.inclusionMerkleRoot), toHex(value.appliedMerkleRoot)]).toEqual([
        result.inclusionMerkleRoot,
        result.appliedMerkleRoot,
      ]);
    }
  });

  it('keeps its supply', () => {
    const { tokenSupply } = parametersAt(network, 14).parameters;
    expect(ledgerAt(network, 14).length).toBeGreaterThan(30);
    expect(tokenSupply).toBe(network.genesisCoins.reduce((sum, { output }) => sum + output.amount, 0n));
  });
});
