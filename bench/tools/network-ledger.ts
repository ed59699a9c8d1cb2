/**
 * A test network in D1: as an import leaves it at one of its milestones, with unreferenced blocks
 * as the follower stores them, and with milestones applied.
 */
import { completeMilestone } from '../../src/follower/complete-milestone.ts';
import { createFollowerMemory } from '../../src/follower/follower-context.ts';
import { storeUnreferenced } from '../../src/follower/store/store-unreferenced.ts';
import { verifyMilestone } from '../../src/follower/verify-milestone.ts';
import type { Database } from '../../src/ledger/core/database.ts';
import { type Head, type KnownMilestone, selectLedger } from '../../src/ledger/core/head.ts';
import { readParameters } from '../../src/ledger/core/ledger-parameters.ts';
import { readQuery } from '../../src/ledger/core/read-batch.ts';
import { loadSnapshot } from '../../src/ledger/import/load-snapshot.ts';
import { createUnreferencedIndex } from '../../src/ledger/write/unreferenced-index.ts';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import type { AdmissionRules } from '../../src/stardust/admission.ts';
import { asFile } from '../../test/support/ledger/ledger-harness.ts';
import { parsedBlock } from '../../test/support/network/blocks.ts';
import {
  milestoneAt,
  type Network,
  type NetworkBlock,
} from '../../test/support/network/network-model.ts';
import { fullSnapshot } from '../../test/support/network/network-snapshot.ts';

function rulesOf({ keys, genesis }: Network): AdmissionRules {
  return {
    keys,
    parameters: [genesis.parameters],
    verify: verifySignature,
  };
}

/** Stores the network's ledger at milestone `index`, as an import leaves it. */
export async function importNetwork(db: Database, network: Network, index: number): Promise<void> {
  await loadSnapshot(db, asFile(fullSnapshot(network, { target: index })), undefined);
}

/** The blocks that milestones after `from` and up to `to` reference, parents first. */
export function blocksBetween(network: Network, from: number, to: number): NetworkBlock[] {
  return [...network.blocks.values()].filter(
    ({ referenced }) =>
      referenced !== undefined && referenced.index > from && referenced.index <= to,
  );
}

/** Blocks that go into D1 at once. */
const PIECE = 2000;

/** Stores blocks, parents first and in this order, as the follower does. */
export async function storeBlocks(
  db: Database,
  network: Network,
  blocks: readonly NetworkBlock[],
): Promise<void> {
  const rules = rulesOf(network);
  const index = createUnreferencedIndex();
  for (let at = 0; at < blocks.length; at += PIECE) {
    const piece = new Map(
      blocks.slice(at, at + PIECE).map(({ id, bytes }) => [id.slice(2), parsedBlock(bytes)]),
    );
    const { head } = await readHead(db);
    const choose = () => ({ visible: new Set(piece.keys()) });
    await storeUnreferenced(db, head, { blocks: piece, rules, choose, index });
  }
}

async function readHead(db: Database): Promise<{ head: Head; milestone: KnownMilestone }> {
  return (await readQuery(db, selectLedger(db)))!;
}

/** Applies the next milestones up to `to`. Their blocks must be stored. */
export async function takeIn(db: Database, network: Network, to: number): Promise<void> {
  const rules = rulesOf(network);
  const fetch = () => Promise.reject(new Error('not all blocks are stored'));
  const memory = createFollowerMemory();
  const [deadline, budget] = [Number.POSITIVE_INFINITY, { fetchesLeft: 0 }];
  const tools = { memory, rules, fetch, budget, deadline, waitUntil: 0 };
  for (;;) {
    const { head, milestone } = await readHead(db);
    if (head.ledger >= to) return;
    const { payload } = milestoneAt(network, head.ledger + 1)!;
    const announced = await readParameters(db);
    const verified = await verifyMilestone(payload, { head, milestone, announced }, rules);
    await completeMilestone(db, head, verified, tools);
  }
}
