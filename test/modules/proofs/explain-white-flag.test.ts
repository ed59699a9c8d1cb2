/**
 * The white flag explained (src/modules/proofs/explain-white-flag.ts): for every milestone of network-a, what
 * HORNET decided of each of its blocks, before the milestone is there and after it; and the input
 * that decided.
 */

import { expect, it } from 'vitest';
import {
  explainWhiteFlag,
  type JudgedBlock,
} from '../../../src/modules/proofs/explain-white-flag.ts';
import { outputId } from '../../../src/stardust/wire/ids.ts';
import {
  bringFrom,
  followTo,
  questionOf,
  requestOf,
  rootsOf,
  startLedger,
  startNew,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { parsedBlock } from '../../support/network/blocks.ts';
import { coneOf, lastIndex } from '../../support/network/network-model.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';

const db = await openMemory();

const network = recordedNetwork('network-a');

/** The rules that lead to each reason, by the table of docs/protocol.md, D.0. */
const RULES: Record<number, RegExp> = {
  1: /^L-4$/,
  2: /^L-1$/,
  3: /^L-3$/,
  4: /^S4\.1$/,
  5: /^S2\.(9|10)$/,
  6: /^S1$/,
  7: /^S5\.[1-6]$/,
  8: /^S4\.3$/,
  9: /^S2\.[4-8]$/,
  10: /^S2\.0$/,
  11: /^S3$/,
  12: /^(S2\.2|S6\.1|S6\.2)$/,
};

it('tells what HORNET decided, of the next milestone and of the one that was applied', async () => {
  const rig = await startLedger(db, network, 0);
  const inputs = { spent: 0, spentHere: 0, unknown: 0, unlock: 0 };
  const reasons = new Set<number>();
  const options = { rules: rig.following, bring: bringFrom(rig.following) };
  const explain = (index: number) =>
    explainWhiteFlag(db, requestOf(questionOf(network, index).question), options);
  for (let index = 1; index <= lastIndex(network); index += 3) {
    await followTo(rig, index - 1);
    const before = await explain(index);
    await followTo(rig, index);
    const after = await explain(index);
    expect([index, before]).toEqual([index, after]);
    if (!before.ok) throw new Error(before.detail);
    const { answer } = questionOf(network, index);
    expect(rootsOf(before)).toEqual(answer);
    const cone = coneOf(network, index);
    expect(before.blocks.map(({ blockId, reason }) => [blockId, reason])).toEqual(
      cone.map(({ id, referenced }) => [
        id.slice(2),
        referenced!.state === 'noTransaction' ? undefined : referenced!.conflict,
      ]),
    );
    for (const block of before.blocks) {
      countInput(block, index, inputs);
      if (block.decided === undefined) continue;
      const { rule } = block.decided;
      expect([rule, RULES[block.reason!]?.test(rule)]).toEqual([rule, true]);
      reasons.add(block.reason!);
    }
  }
  expect(Math.min(...Object.values(inputs))).toBeGreaterThan(0);
  expect(reasons.size).toBeGreaterThanOrEqual(10);
});

/** By the network's outputs, which were derived from what HORNET included. */
function countInput(
  { blockId, reason, decided }: JudgedBlock,
  index: number,
  counts: { spent: number; spentHere: number; unknown: number; unlock: number },
): void {
  expect([blockId, decided !== undefined]).toEqual([blockId, (reason ?? 0) > 0]);
  if (decided?.input === undefined) return;
  const { input, outputId: id, spentBy } = decided.input;
  const parsed = parsedBlock(network.blocks.get(`0x${blockId}`)!.bytes);
  const named = parsed.transaction!.value.essence.inputs[input]!;
  expect(outputId(named.transactionId, named.outputIndex).toHex()).toBe(id);
  const output = network.outputs.get(`0x${id}`);
  if (reason === 3) {
    expect(output === undefined || output.bookedIndex >= index).toBe(true);
    counts.unknown++;
  } else if (reason === 1) {
    expect(output!.spent!.index).toBeLessThan(index);
    counts.spent++;
  } else if (reason === 2) {
    expect(output!.spent!.index).toBe(index);
    const spender = parsedBlock(network.blocks.get(`0x${spentBy}`)!.bytes);
    expect(spender.transaction!.id).toEqual(output!.spent!.transactionId);
    counts.spentHere++;
  } else {
    expect(output!.spent === undefined || output!.spent.index >= index).toBe(true);
    counts.unlock++;
  }
}

it('reads blocks where they were brought, which a replica may not have yet', async () => {
  const primary = await openMemory();
  const { network: made, rig, root } = await startNew(primary, 'replica');
  const replica = await openMemory();
  replica.deserialize(primary.serialize());
  const block = made.note([root]);
  const { request, response } = made.propose({ parents: [root, block] });
  const following = { ...rig.following, upstreams: [rig.upstream] };
  const options = { rules: following, bring: bringFrom(following) };
  const explained = await explainWhiteFlag(replica, requestOf(request), options);
  if (!explained.ok) throw new Error(explained.detail);
  expect(rootsOf(explained)).toEqual(response);
  expect(explained.blocks.map(({ blockId }) => `0x${blockId}`)).toContain(block);
});
