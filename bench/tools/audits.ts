/**
 * A ledger with a past: a milestone of a thousand transfers comes next, others came long ago, and
 * there are small ones between them.
 */

import {
  lastIndex,
  type Network,
  type WhiteFlagCase,
} from '../../test/support/network/network-model.ts';
import { busyNetwork } from './busy-network.ts';
import { lastQuestion } from './cones.ts';
import { keptLedger } from './ledger.ts';
import { blocksBetween, importNetwork, storeBlocks, takeIn } from './network-ledger.ts';

export interface Audits {
  persistTo: string;
  /** About the next milestone. */
  present: WhiteFlagCase;
  /** About milestones so far behind it. */
  past: { depth: number; question: WhiteFlagCase }[];
}

const BIG = 1001;
const SMALL = 3;
const DEPTHS = [1, 100, 1000];

/** Small milestones, except those at these distances from the last one. */
const SIZES = Array.from({ length: 1002 }, (_, i) =>
  [0, ...DEPTHS].includes(1001 - i) ? BIG : SMALL,
);

export async function audits(): Promise<Audits> {
  const network = busyNetwork({ sizes: SIZES, transferEvery: 1 });
  const last = lastIndex(network);
  const persistTo = await keptLedger('audits', async (db) => {
    await importNetwork(db, network, network.genesis.index);
    await storeBlocks(db, network, blocksBetween(network, network.genesis.index, last));
    await takeIn(db, network, last - 1);
  });
  const past = DEPTHS.map((depth) => ({ depth, question: questionAbout(network, last - depth) }));
  return { persistTo, present: questionAbout(network, last), past };
}

function questionAbout(network: Network, index: number): WhiteFlagCase {
  return lastQuestion({
    ...network,
    milestones: network.milestones.slice(0, index - network.genesis.index),
  });
}
