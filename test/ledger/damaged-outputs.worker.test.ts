/** Outputs and NFTs that were damaged in D1: an error, never an answer (src/ledger/output-bytes.ts). */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { LedgerDamaged } from '../../src/ledger/checksum.ts';
import { readNftOutputs } from '../../src/ledger/nft-outputs.ts';
import { readOutput } from '../../src/ledger/output-status.ts';
import { followTo, startLedger } from '../support/ledger/ledger-harness.ts';
import { SteadyNetwork } from '../support/network/steady-network.ts';

const db = env.LEDGER;

const FLIPPED = `CASE WHEN substr(bytes, 20, 1) = 'A' THEN 'B' ELSE 'A' END`;

it('outputs and NFTs that were damaged are errors', async () => {
  const steady = new SteadyNetwork('damaged', { blocks: 20, transactions: 5, nfts: 2 });
  steady.network.milestone();
  const rig = await startLedger(db, steady.network, 0);
  await followTo(rig, 1);
  await steady.makeMilestone(async () => {});
  await followTo(rig, 2);
  const { results } = await db.prepare('SELECT id, output FROM nft').all<Record<string, string>>();
  const ids = results.map(({ id }) => id!);
  const whole = await readNftOutputs(db, ids);
  expect(whole!.outputs.every((output) => output !== undefined)).toBe(true);
  const { id, output } = results[0]!;

  const flip = `UPDATE output SET bytes = substr(bytes, 1, 19) || ${FLIPPED} || substr(bytes, 21)`;
  const before = await db.prepare('SELECT bytes FROM output WHERE id = ?1').bind(output).first();
  await db.prepare(`${flip} WHERE id = ?1`).bind(output).run();
  await expect(readOutput(db, output!)).rejects.toThrow(LedgerDamaged);
  await expect(readNftOutputs(db, ids)).rejects.toThrow(LedgerDamaged);
  const mend = db.prepare('UPDATE output SET bytes = ?2 WHERE id = ?1');
  await mend.bind(output, before!.bytes).run();
  expect(await readNftOutputs(db, ids)).toEqual(whole);

  // the name of an output that is not there
  await db.prepare('UPDATE nft SET output = ?2 WHERE id = ?1').bind(id, 'f'.repeat(68)).run();
  await expect(readNftOutputs(db, ids)).rejects.toThrow(LedgerDamaged);
});
