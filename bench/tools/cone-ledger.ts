/**
 * Ledgers with a big cone that waits for its milestone (bench/tools/cones.ts). All of its
 * blocks are stored.
 */
import { type Database, runBatch } from '../../src/ledger/core/database.ts';
import type { WhiteFlagCase } from '../../test/support/network/network-model.ts';
import { type ConeOptions, coneNetwork, lastQuestion } from './cones.ts';
import { keptLedger } from './ledger.ts';
import { blocksBetween, importNetwork, storeBlocks } from './network-ledger.ts';

export interface ConeLedger {
  persistTo: string;
  question: WhiteFlagCase;
  /** Inner nodes of both Merkle trees. */
  nodes: number;
}

/** @param otherOutputs how many unspent outputs the ledger has that the cone does not refer to */
export async function coneLedger(options: ConeOptions, otherOutputs = 0): Promise<ConeLedger> {
  const network = coneNetwork(options);
  const { kind, count, conflicts = 0 } = options;
  const persistTo = await keptLedger(
    `${kind}-${count}-${conflicts}-${otherOutputs}`,
    async (db) => {
      await importNetwork(db, network, 1);
      await addOutputs(db, otherOutputs);
      await storeBlocks(db, network, blocksBetween(network, 1, 2));
    },
  );
  const cone = blocksBetween(network, 1, 2);
  const applied = cone.filter(({ referenced }) => referenced!.state === 'included').length;
  return {
    persistTo,
    question: lastQuestion(network),
    nodes: cone.length - 1 + Math.max(0, applied - 1),
  };
}

const ADD_OUTPUTS = `
  WITH RECURSIVE number(n) AS (SELECT ?1 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < ?1 + ?2)
  INSERT INTO output (id, bytes, block, created, created_time, sum)
  SELECT printf('%064x0000', n * 1000003), hex(randomblob(40)), printf('%064x', n), 1, 0, n
  FROM number`;

const PIECE = 50_000;

/** Adds unspent outputs, rows about as long as real ones. */
async function addOutputs(db: Database, count: number): Promise<void> {
  for (let first = 0; first < count; first += PIECE) {
    await runBatch(db, [db.prepare(ADD_OUTPUTS).bind(first, Math.min(PIECE, count - first))]);
  }
}
