/** The state hash of a network at a milestone, computed without following it. */
import { loadSnapshot } from '../../../src/ledger/import/load-snapshot.ts';
import { ledgerStateHash } from '../../../src/ledger/read/ledger-state-hash.ts';
import { asFile } from '../ledger/ledger-harness.ts';
import { openMemory } from '../ledger/memory-database.ts';
import type { Network } from './network-model.ts';
import { fullSnapshot } from './network-snapshot.ts';

/** 64 hex digits. */
export async function stateHashAt(network: Network, index: number): Promise<string> {
  const db = await openMemory();
  await loadSnapshot(db, asFile(fullSnapshot(network, { target: index })), undefined);
  return (await ledgerStateHash(db)).toHex();
}
