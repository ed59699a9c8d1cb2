/**
 * Nodes over the ledger of a recorded network at one of its milestones, in memory. They follow
 * nothing, and have no KV.
 */
import { fillIndex } from '../../../src/ledger/output-list/fill-index.ts';
import { type EdgeNode, openNode } from '../../../src/node/edge-node.ts';
import { defaultSettings } from '../default-settings.ts';
import { followTo, startLedger } from '../ledger/ledger-harness.ts';
import { openMemory } from '../ledger/memory-database.ts';
import type { Network } from '../network/network-model.ts';
import { EVERY_KIND } from '../nft-list/listed-ledger.ts';

/**
 * @param from where the snapshot was made; default: the genesis, and all blocks since are kept
 * @param indexAll whether outputs of every kind are in lists
 */
export async function recordedNode(
  network: Network,
  index: number,
  from: number = network.genesis.index,
  indexAll = false,
): Promise<EdgeNode> {
  const db = await openMemory();
  await followTo(await startLedger(db, network, from), index);
  while (indexAll && !(await fillIndex(db, EVERY_KIND)));
  const LEDGER = Object.assign(db, { withSession: () => db });
  // named by openNode, and used by lookups in KV alone
  Object.assign(globalThis, { caches: undefined });
  return openNode({ ...defaultSettings({ LEDGER }), indexAll, milestoneKeys: network.keys });
}

/** The node, as if its milestone was so many seconds old: it was recorded long ago. */
export const withAge = (node: EdgeNode, seconds: number): EdgeNode => ({
  ...node,
  async readStatus() {
    const status = (await node.readStatus())!;
    const timestamp = Math.floor(Date.now() / 1000) - seconds;
    return { ...status, ledger: { ...status.ledger, timestamp } };
  },
});
