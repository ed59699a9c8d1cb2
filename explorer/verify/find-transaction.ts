/**
 * Finds the block of a transaction that was not applied. A node finds applied transactions by their
 * ID alone; of the others the page reads the blocks, and hashes what they carry.
 */
import { provedValue } from '../../src/stardust/provenance/proved.ts';
import { NodeError } from '../node/ask.ts';
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
  for (const index of indexesFrom(confirmedMilestone.index, MILESTONES, pruningIndex)) {
    const failed = await readFailed(index);
    if (failed === undefined || failed.length > left) break;
    left -= failed.length;
    looked = [index, looked?.[1] ?? confirmedMilestone.index];
    for (let from = 0; from < failed.length; from += AT_ONCE) {
      const ids = failed.slice(from, from + AT_ONCE);
      const found = await Promise.all(ids.map(readTransactionId));
      const place = found.indexOf(transactionId);
      if (place >= 0) return { blockId: ids[place]!, looked };
    }
  }
  return { blockId: undefined, looked };
}

/** IDs of its blocks with a transaction in conflict; undefined where its blocks are not kept. */
async function readFailed(index: number): Promise<readonly string[] | undefined> {
  try {
    const { said } = await askExplanation(index);
    return said.blocks
      .filter(({ ledgerInclusionState }) => ledgerInclusionState === 'conflicting')
      .map(({ blockId }) => blockId);
  } catch (error) {
    if (error instanceof NodeError && error.status === 404) return undefined;
    throw error;
  }
}

async function readTransactionId(blockId: string): Promise<string | undefined> {
  const block = await readBlockContent(blockId);
  return block.standing === 'proved' ? provedValue(block.proof).transactionId : undefined;
}
