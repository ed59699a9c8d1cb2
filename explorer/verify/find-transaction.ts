/**
 * Finds the block of a transaction that was not applied. A node finds applied transactions by their
 * ID alone; of the others the page reads the blocks, and hashes what they carry.
 */
import { provedValue } from '../../src/stardust/provenance/proved.ts';
import { asSentence } from '../format.ts';
import { isMissing, NodeError } from '../node/ask.ts';
import { askExplanation, askTips, explainProposal, indexesFrom } from '../node/ledger.ts';
import { type Info, saysEnded } from '../node/shapes.ts';
import { readBlockContent } from './judge.ts';

/** Milestones whose failed transactions are read for one search. */
const MILESTONES = 40;

/** Failed transactions that are read for one search: a request each. */
const MAX_BLOCKS = 200;

/** Requests at the same time. */
const AT_ONCE = 6;

export interface Search {
  /** Of the block that carries the transaction; undefined if none was found. */
  blockId: string | undefined;
  /** Indexes of the first and the last milestone whose failed transactions were read, if any. */
  looked: readonly [first: number, last: number] | undefined;
}

/**
 * Looks among the blocks that no milestone references yet, and the failed transactions of the newest
 * milestones. Throws a NodeError where the node does not answer.
 */
export async function findUnapplied(transactionId: string, info: Info): Promise<Search> {
  const [waiting, failed] = await Promise.allSettled([
    saysEnded(info) ? undefined : findWaiting(transactionId, info),
    findFailed(transactionId, info),
  ]);
  const looked = failed.status === 'fulfilled' ? failed.value.looked : undefined;
  for (const each of [waiting, failed]) {
    const found = each.status === 'fulfilled' ? each.value : undefined;
    const blockId = typeof found === 'object' ? found.blockId : found;
    if (blockId !== undefined) return { blockId, looked };
  }
  for (const each of [waiting, failed]) if (each.status === 'rejected') throw each.reason;
  return { blockId: undefined, looked };
}

/** The node explains what the next milestone would decide, with the ID of each transaction. */
async function findWaiting(transactionId: string, info: Info): Promise<string | undefined> {
  const { tips: parents } = await askTips();
  if (parents.length === 0) return undefined;
  const { index, timestamp, milestoneId } = info.status.confirmedMilestone;
  const { said } = await explainProposal({
    index: index + 1,
    timestamp: timestamp + 1,
    parents,
    previousMilestoneId: milestoneId,
  });
  return said.blocks.find((block) => block.transactionId === transactionId)?.blockId;
}

async function findFailed(transactionId: string, info: Info): Promise<Search> {
  const { confirmedMilestone, pruningIndex } = info.status;
  let looked: Search['looked'];
  let left = MAX_BLOCKS;
  let unread: string | undefined;
  const indexes = indexesFrom(confirmedMilestone.index, MILESTONES, pruningIndex);
  for await (const [index, failed] of inOrder(indexes, readFailed)) {
    if (failed === undefined || failed.length > left) break;
    left -= failed.length;
    looked = [index, looked?.[1] ?? confirmedMilestone.index];
    for await (const [blockId, block] of inOrder(failed, readBlockContent)) {
      if (block.standing !== 'proved') unread ??= block.reason;
      else if (provedValue(block.proof).transactionId === transactionId) return { blockId, looked };
    }
  }
  // it may be that one
  if (unread !== undefined) throw new NodeError(0, asSentence(unread));
  return { blockId: undefined, looked };
}

/** Each with its answer, some asked at the same time: none waits for the one before. */
async function* inOrder<T, R>(all: readonly T[], read: (each: T) => Promise<R>) {
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const some = all.slice(from, from + AT_ONCE).map((each) => [each, read(each)] as const);
    // whoever has found what they look for waits for no more
    for (const [, answer] of some) answer.catch(() => {});
    for (const [each, answer] of some) yield [each, await answer] as const;
  }
}

/** IDs of its blocks with a transaction in conflict; undefined where its blocks are not kept. */
async function readFailed(index: number, tries = 3): Promise<readonly string[] | undefined> {
  try {
    const { said } = await askExplanation(index);
    return said.blocks
      .filter(({ ledgerInclusionState }) => ledgerInclusionState === 'conflicting')
      .map(({ blockId }) => blockId);
  } catch (error) {
    if (isMissing(error)) return undefined;
    // a node that does one scan at a time refuses what would wait for long
    if (tries > 1 && error instanceof NodeError && error.status === 429) {
      await new Promise((resolve) => setTimeout(resolve, 2000));
      return readFailed(index, tries - 1);
    }
    throw error;
  }
}
