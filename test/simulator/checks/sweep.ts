/** Reads of much that there is, one after the other: what a story left wrong shows in one of them. */
import { lastIndex } from '../../support/network/network-model.ts';
import { Random } from '../../support/network/random.ts';
import type { World } from '../world.ts';
import { readReceipts } from './contents.ts';
import { readList } from './lists.ts';
import {
  checkImmutable,
  readBlockMetadata,
  readChangesOfMilestone,
  readHistory,
  readNft,
  readNftChanges,
  readNftList,
  readOutput,
} from './reads.ts';
import { askRoots } from './white-flag.ts';

const NFTS = 25;
const HISTORIES = 8;
const OUTPUTS = 20;
const BLOCKS = 40;
const PROPOSALS = 12;
const LISTS = ['all', 'basic', 'basic', 'nft', 'nft'] as const;

/** Milliseconds between two reads. */
const PAUSE_MS = 20;

export async function sweep(world: World, seed: string, factor = 1): Promise<void> {
  const { network, truth, simulation, settings, proposals } = world;
  // where little happens IDs are forgotten of blocks that are still there
  const blocks = settings.kind === 'idle' ? network.blocks.size : factor * BLOCKS;
  const random = new Random(`sweep ${seed}`);
  const nfts = random.sample(truth.nftIds, factor * NFTS);
  const last = lastIndex(network);
  const reads = [
    ...nfts.map((id) => () => readNft(world, id)),
    ...nfts.slice(0, factor * HISTORIES).map((id) => () => readHistory(world, id)),
    ...random
      .sample([...network.outputs.keys()], factor * OUTPUTS)
      .map((id) => () => readOutput(world, id)),
    ...random
      .sample([...network.blocks.keys()], blocks)
      .map((id) => () => readBlockMetadata(world, id)),
    // clients repeat what they asked before
    ...random.sample(proposals, PROPOSALS).map((request) => () => askRoots(world, request)),
    () => readReceipts(world),
    ...LISTS.map((list) => () => readList(world, list, random)),
    () => readNftList(world),
    () => readNftChanges(world, Math.max(1, last - 10)),
    () => readChangesOfMilestone(world, last),
  ];
  for (const read of reads) {
    read();
    await simulation.runUntil(simulation.now + PAUSE_MS);
  }
  await simulation.runUntil(simulation.now + 5000);
  checkImmutable(world);
}
