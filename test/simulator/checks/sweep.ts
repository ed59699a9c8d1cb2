/** Reads of much that there is, one after the other: what a story left wrong shows in one of them. */
import { lastIndex } from '../../support/network/network-model.ts';
import { Random } from '../../support/network/random.ts';
import type { PlainOutput } from '../../support/nft-list/plain-list.ts';
import type { World } from '../world.ts';
import {
  readBlockBody,
  readIncluded,
  readMilestoneBody,
  readNode,
  readOutputBody,
  readReceipts,
  readTips,
} from './contents.ts';
import { readList, readNftState, readsAtBounds } from './lists.ts';
import { explainProposal, readCertificate, readInclusion } from './proofs.ts';
import {
  checkImmutable,
  RECENT_MS,
  readBlockMetadata,
  readChangesOfMilestone,
  readExplanation,
  readHistory,
  readInfo,
  readNft,
  readNftChanges,
  readNftList,
  readOutput,
  readTreasury,
} from './reads.ts';
import { firstKept } from './rest.ts';
import { askRoots } from './white-flag.ts';

const NFTS = 25;
const HISTORIES = 8;
const OUTPUTS = 20;
const BLOCKS = 40;
const PROPOSALS = 12;
const LISTS = ['all', 'basic', 'basic', 'nft', 'nft'] as const;

/** Of the last ones, those that are read in each way that there is. */
const KEPT = 12;
const MILESTONES = 3;
const PROOFS = 4;
/** Of outputs that have a time, those by whose values lists are bounded. */
const BOUNDED = 3;
const BODIES = 5;

/** Milliseconds between two reads. */
/** Before the first row comes from D1. */
const LEFT_MS = 1;
const PAUSE_MS = 20;

export async function sweep(world: World, seed: string, factor = 1): Promise<void> {
  const { network, truth, simulation, settings, proposals } = world;
  // where little happens IDs are forgotten of blocks that are still there
  const blocks = settings.kind === 'idle' ? network.blocks.size : factor * BLOCKS;
  const random = new Random(`sweep ${seed}`);
  /** What damaged rows name comes first. */
  const some = (ids: Iterable<string>, count: number): string[] => {
    const all = [...ids];
    const suspects = all.filter((id) => world.suspects.has(id.replace('0x', '')));
    return [...new Set([...random.sample(suspects, count), ...random.sample(all, count)])];
  };
  const newest = (ids: Iterable<string>) => some([...ids].slice(-BODIES * KEPT), BODIES);
  // KV may tell of a ledger for a while that was replaced
  if (world.phantoms.size > 0) await simulation.runUntil(world.wasDamagedAt + RECENT_MS);
  const nfts = some([...world.phantoms, ...truth.nftIds], factor * NFTS);
  const last = lastIndex(network);
  const hasTime = ({ output }: PlainOutput) =>
    output.unlockConditions.some((condition) => 'unixTime' in condition);
  const bounded = truth.plainOutputs(last).filter(hasTime);
  const reads = [
    ...nfts.map((id) => () => readNft(world, id)),
    ...nfts.slice(0, factor * HISTORIES).map((id) => () => readHistory(world, id)),
    ...some(network.outputs.keys(), factor * OUTPUTS).map((id) => () => readOutput(world, id)),
    ...some(network.blocks.keys(), blocks).map((id) => () => readBlockMetadata(world, id)),
    // clients repeat what they asked before
    ...random.sample(proposals, PROPOSALS).map((request) => () => askRoots(world, request)),
    () => readReceipts(world),
    ...LISTS.map((list) => () => readList(world, list, random)),
    () => readNftList(world),
    () => readNftChanges(world, Math.max(network.genesis.index + 1, last - 10)),
    () => readChangesOfMilestone(world, last),
    ...random
      .sample(network.milestones.slice(-KEPT), MILESTONES)
      .flatMap((milestone) => [
        () => readMilestoneBody(world, milestone),
        () => readChangesOfMilestone(world, milestone.index),
        () => readExplanation(world, milestone.index),
      ]),
    ...nfts.slice(0, PROOFS).map((id) => () => readCertificate(world, id)),
    ...nfts.slice(-PROOFS).map((id) => () => readNftState(world, id)),
    ...newest(network.blocks.keys()).flatMap((id) => [
      () => readBlockBody(world, id),
      () => readInclusion(world, id),
    ]),
    ...newest(network.transactions.keys()).map((id) => () => readIncluded(world, id)),
    ...newest(network.outputs.keys()).map((id) => () => readOutputBody(world, id)),
    // who has left keeps a place, of which there are two, no longer than the work takes
    ...random
      .sample(proposals, 1)
      .flatMap((request) =>
        [LEFT_MS, LEFT_MS, undefined].map((ms) => () => explainProposal(world, request, ms)),
      ),
    () => readInfo(world),
    () => readTreasury(world),
    () => readTips(world),
    () => readNode(world, '/health'),
    () => readNode(world, '/metrics'),
    () => readNode(world, '/'),
    () => readNode(world, 'https://other.test/'),
    ...random.sample(bounded, BOUNDED).flatMap((each) => readsAtBounds(world, each, random)),
  ];
  world.restsFrom = world.isFlipped ? undefined : await firstKept(world);
  for (const read of reads) {
    read();
    await simulation.pass(PAUSE_MS);
  }
  await simulation.pass(5000);
  world.restsFrom = undefined;
  checkImmutable(world);
}
