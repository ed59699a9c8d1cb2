/**
 * What must hold of a ledger on disk at any moment.
 */
import { expect } from 'vitest';
import { milestoneAt, type Network } from '../network/network-model.ts';
import { openDatabase } from './d1-file.ts';

/**
 * Each milestone once, without a gap, as the network has it, and the head at the last one, whose
 * index it returns. The ledger was imported at the network's genesis.
 */
export function checkChain(persistTo: string, network: Network): number {
  using db = openDatabase(persistTo);
  // both are read at the same moment, also while a Worker writes
  db.exec('BEGIN');
  const ledger = Number(db.prepare('SELECT ledger FROM head').get()!.ledger);
  const rows = db.prepare('SELECT idx, id FROM milestone ORDER BY idx').all();
  expect(rows.map(({ idx }) => Number(idx))).toEqual(rows.map((_, i) => i));
  expect(rows.length - 1).toBe(ledger);
  for (const { idx, id } of rows.slice(1))
    expect(`0x${id}`).toBe(milestoneAt(network, Number(idx))!.id);
  return ledger;
}
