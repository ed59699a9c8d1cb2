/**
 * Outputs, NFTs and milestones that were damaged in D1: an error, never an answer
 * (src/ledger/core/output-bytes.ts, src/ledger/core/milestone-payload.ts).
 */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { LedgerDamaged } from '../../../src/ledger/core/checksum.ts';
import { explainMilestone } from '../../../src/ledger/read/applied-milestone.ts';
import { readNftOutputs } from '../../../src/ledger/read/nft-outputs.ts';
import { readOutput } from '../../../src/ledger/read/output-status.ts';
import { readMilestone } from '../../../src/ledger/read/stored-milestone.ts';
import { followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { SteadyNetwork } from '../../support/network/steady-network.ts';

const db = env.LEDGER;

/** SQL of the twentieth character of `bytes`, changed. */
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

it('milestones that were damaged are errors', async () => {
  const steady = new SteadyNetwork('damaged', { blocks: 20, transactions: 5, nfts: 2 });
  steady.network.milestone();
  const rig = await startLedger(db, steady.network, 0);
  await followTo(rig, 1);
  await steady.makeMilestone(async () => {});
  await followTo(rig, 2);
  const row = (await db.prepare('SELECT id, payload FROM milestone WHERE idx = 2').first())!;
  const flipAt = (text: string, at: number) =>
    text.slice(0, at) + (text[at] === '0' ? '1' : '0') + text.slice(at + 1);
  const write = db.prepare('UPDATE milestone SET id = ?1, payload = ?2 WHERE idx = 2');
  const damaged = [
    { id: flipAt(String(row.id), 5), payload: row.payload },
    { id: row.id, payload: flipAt(String(row.payload), 20) },
    { id: row.id, payload: String(row.payload).slice(0, 40) },
  ];
  for (const { id, payload } of damaged) {
    await write.bind(id, payload).run();
    await expect(readMilestone(db, { index: 2 })).rejects.toThrow(LedgerDamaged);
    await expect(explainMilestone(db, 2)).rejects.toThrow(LedgerDamaged);
  }
  await write.bind(row.id, row.payload).run();
  expect((await explainMilestone(db, 2))!.blocks.length).toBe(20);
});
