/**
 * A network in the form that the oracle (../oracle) takes.
 */
import type { ParsedBlock } from '../../../src/stardust/wire/block.ts';
import { type OracleView, whiteFlag } from '../oracle/oracle.ts';
import { parsedBlock } from './blocks.ts';
import { type Network, type WhiteFlagCase, ZERO_ID } from './network-model.ts';

/** All blocks of a network, by ID. */
export function parsedBlocks(network: Network): Map<string, ParsedBlock> {
  return new Map([...network.blocks.values()].map(({ id, bytes }) => [id, parsedBlock(bytes)]));
}

/** What a node knows that has confirmed milestone `index` and has all blocks, later ones too. */
export function oracleView(
  network: Network,
  index: number,
  blocks = parsedBlocks(network),
): OracleView {
  const all = [...network.blocks.values()];
  const booked = [...network.outputs].filter(([, { bookedIndex }]) => bookedIndex <= index);
  const idsOf = (list: typeof all) => new Set(list.map(({ id }) => id));
  return {
    genesisMilestoneIndex: network.genesis.index,
    solidEntryPoints: new Set([ZERO_ID]),
    blocks,
    referenced: idsOf(
      all.filter(({ referenced }) => referenced !== undefined && referenced.index <= index),
    ),
    milestoneBlocks: idsOf(all.filter(({ milestoneIndex }) => milestoneIndex !== undefined)),
    outputs: new Map(booked),
    spent: new Set(
      booked.flatMap(([id, { spent }]) =>
        spent !== undefined && spent.index <= index ? [id] : [],
      ),
    ),
  };
}

/**
 * What the oracle answers before milestone `request.index` is there: roots, or 400 where the
 * previous milestone is not in the cone.
 */
export async function oracleAnswer(
  network: Network,
  request: WhiteFlagCase['request'],
  blocks = parsedBlocks(network),
): Promise<WhiteFlagCase['response'] | 400> {
  const result = await whiteFlag(oracleView(network, request.index - 1, blocks), request);
  const { inclusionMerkleRoot, appliedMerkleRoot, metPreviousMilestone } = result;
  return metPreviousMilestone ? { inclusionMerkleRoot, appliedMerkleRoot } : 400;
}
