/**
 * Nodes over the ledger of a recorded network at one of its milestones, in memory. They follow
 * nothing, and have no KV.
 */
import { type EdgeNode, openNode } from '../../../src/node/edge-node.ts';
import { defaultSettings } from '../default-settings.ts';
import { followTo, startLedger } from '../ledger/ledger-harness.ts';
import { openMemory } from '../ledger/memory-database.ts';
import type { Network } from '../network/network-model.ts';

/** @param from where the snapshot was made; default: the genesis, and all blocks since are kept */
export async function recordedNode(
  network: Network,
  index: number,
  from: number = network.genesis.index,
): Promise<EdgeNode> {
  const db = await openMemory();
  await followTo(await startLedger(db, network, from), index);
  const LEDGER = Object.assign(db, { withSession: () => db });
  // named by openNode, and used by lookups in KV alone
  Object.assign(globalThis, { caches: undefined });
  return openNode({ ...defaultSettings({ LEDGER }), milestoneKeys: network.keys });
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
