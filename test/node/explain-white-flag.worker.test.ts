/**
 * The white flag explained (src/node/explain-white-flag.ts): for every milestone of network-a, what
 * HORNET decided of each of its blocks, before the milestone is there and after it; and the input
 * that decided.
 */
import '../support/vectors-in-workerd.ts';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { explainWhiteFlag, type JudgedBlock } from '../../src/node/explain-white-flag.ts';
import { parseBlock } from '../../src/stardust/block.ts';
import { outputId } from '../../src/stardust/ids.ts';
import { createProposalSource } from '../../src/upstream/fetch-blocks.ts';
import { followTo, questionOf, startLedger } from '../support/ledger/ledger-harness.ts';
import { coneOf, lastIndex, type Network, ZERO_ID } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

vi.setConfig({ testTimeout: 300_000 });

const network = recordedNetwork('network-a');

it('tells what HORNET decided, of the next milestone and of the one that was applied', async () => {
  const rig = await startLedger(env.LEDGER, network, 0);
  const inputs = { spent: 0, spentHere: 0, unknown: 0 };
  const explain = async (index: number) => {
    const { question } = questionOf(network, index);
    const previousMilestoneId = (question.previousMilestoneId ?? ZERO_ID).slice(2);
    const parents = question.parents.map((id) => id.slice(2));
    const limits = { maxBlocks: 2000, deadline: Date.now() + 10_000 };
    const upstreams = [rig.upstream];
    return explainWhiteFlag(
      env.LEDGER,
      { index, timestamp: question.timestamp, parents, previousMilestoneId },
      {
        keys: network.keys,
        openSource: ({ ledger }) =>
          createProposalSource({ upstreams, index: ledger + 1, limits, fetched: new Map() }),
      },
    );
  };
  for (let index = 1; index <= lastIndex(network); index += 3) {
    await followTo(rig, index - 1);
    const before = await explain(index);
    await followTo(rig, index);
    const after = await explain(index);
    expect([index, before]).toEqual([index, after]);
    if (!before.ok) throw new Error(before.detail);
    const { answer } = questionOf(network, index);
    expect({
      inclusionMerkleRoot: `0x${before.inclusionMerkleRoot.toHex()}`,
      appliedMerkleRoot: `0x${before.appliedMerkleRoot.toHex()}`,
    }).toEqual(answer);
    const cone = coneOf(network, index);
    expect(before.blocks.map(({ blockId, reason }) => [blockId, reason])).toEqual(
      cone.map(({ id, referenced }) => [
        id.slice(2),
        referenced!.state === 'noTransaction' ? undefined : referenced!.conflict,
      ]),
    );
    for (const block of before.blocks) countInput(block, index, inputs);
  }
  expect(Math.min(...Object.values(inputs))).toBeGreaterThan(0);
});

/** By the network's outputs, which were derived from what HORNET included. */
function countInput(
  { blockId, reason, decidingInput }: JudgedBlock,
  index: number,
  counts: { spent: number; spentHere: number; unknown: number },
): void {
  expect([blockId, decidingInput !== undefined]).toEqual([
    blockId,
    reason === 1 || reason === 2 || reason === 3,
  ]);
  if (decidingInput === undefined) return;
  const { input, outputId: id, spentBy } = decidingInput;
  const parsed = parseBlock(network.blocks.get(`0x${blockId}`)!.bytes);
  if (!parsed.ok) throw new Error(parsed.reason);
  const named = parsed.parsed.transaction!.value.essence.inputs[input]!;
  expect(outputId(named.transactionId, named.outputIndex).toHex()).toBe(id);
  const output = outputOf(network, id);
  if (reason === 3) {
    expect(output === undefined || output.bookedIndex >= index).toBe(true);
    counts.unknown++;
  } else if (reason === 1) {
    expect(output!.spent!.index).toBeLessThan(index);
    counts.spent++;
  } else {
    expect(output!.spent!.index).toBe(index);
    const spender = parseBlock(network.blocks.get(`0x${spentBy}`)!.bytes);
    if (!spender.ok) throw new Error(spender.reason);
    expect(spender.parsed.transaction!.id).toEqual(output!.spent!.transactionId);
    counts.spentHere++;
  }
}

function outputOf({ outputs }: Network, id: string) {
  return outputs.get(`0x${id}`);
}
