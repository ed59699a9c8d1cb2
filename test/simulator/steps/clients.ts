/** Clients: wallets, marketplaces, explorers, strangers; each read is checked. */
import { lastIndex } from '../../support/network/network-model.ts';
import type { Random } from '../../support/network/random.ts';
import { listen } from '../checks/events.ts';
import {
  readBlockMetadata,
  readChangesOfMilestone,
  readExplanation,
  readHistory,
  readInfo,
  readMilestone,
  readNft,
  readNftChanges,
  readNftList,
  readOutput,
  readTreasury,
} from '../checks/reads.ts';
import type { World } from '../world.ts';
import type { Step, Steps } from './step.ts';

const client = (often: number, run: Step['run']): Step => ({ actor: 'client', often, run });

/** One of the last milestones, mostly. */
function someIndex({ network }: World, random: Random): number {
  const last = lastIndex(network);
  return random.chance(0.7) ? Math.max(1, last - random.below(5)) : random.between(1, last);
}

/** Mostly newer ones. */
function recent<T>(all: readonly T[], random: Random): T | undefined {
  if (all.length === 0) return undefined;
  return random.pick(random.chance(0.6) ? all.slice(-40) : all);
}

const NOBODY = 'ab'.repeat(32);

export const clientSteps = {
  readNft: client(8, (world, random) =>
    readNft(world, recent(world.truth.nftIds, random) ?? NOBODY),
  ),
  readNfts: client(4, (world, random) => {
    for (const id of random.sample(world.truth.nftIds, 5)) readNft(world, id);
  }),
  readOutput: client(4, (world, random) =>
    readOutput(world, recent([...world.network.outputs.keys()], random)!),
  ),
  readBlock: client(4, (world, random) =>
    readBlockMetadata(world, recent([...world.network.blocks.keys()], random)!),
  ),
  readOldBlocks: client(4, (world, random) => {
    for (const id of random.sample([...world.network.blocks.keys()], 3))
      readBlockMetadata(world, id);
  }),
  readMilestone: client(2, (world, random) => readMilestone(world, someIndex(world, random))),
  readUtxoChanges: client(2, (world, random) =>
    readChangesOfMilestone(world, someIndex(world, random)),
  ),
  readHistory: client(4, (world, random) =>
    readHistory(world, recent(world.truth.nftIds, random) ?? NOBODY),
  ),
  readNftChanges: client(3, (world, random) => readNftChanges(world, someIndex(world, random))),
  readNftList: client(2, readNftList),
  readTreasury: client(1, readTreasury),
  readInfo: client(2, readInfo),
  readExplanation: client(2, (world, random) => readExplanation(world, someIndex(world, random))),
  listen: client(2, (world) => listen(world)),
} satisfies Steps;
