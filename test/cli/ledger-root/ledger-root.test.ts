/** `stardust-edge ledger-root`: what it prints, and which files it refuses. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { computeLedgerRoot } from '../../../cli/ledger-root/compute-ledger-root.ts';
import { RecordIndex } from '../../../cli/ledger-root/record-index.ts';
import { openSnapshotFile } from '../../../cli/lib/snapshot-file.ts';
import { mergeSnapshot } from '../../../src/stardust/snapshot.ts';
import { callCommand } from '../../support/cli/call-script.ts';
import { temporaryFolder, unpackVector } from '../../support/cli/script-process.ts';
import { fullSnapshot } from '../../support/network/network-snapshot.ts';
import { GENESIS_INDEX, madeNetwork } from '../../support/snapshot/made-network.ts';

const folder = temporaryFolder();
const FULL = unpackVector(folder, 'network-a/full_snapshot.bin');
const DELTA = unpackVector(folder, 'network-a/delta_snapshot.bin');

it('prints the hashes of a ledger', async () => {
  const { code, stdout, stderr } = await callCommand('ledger-root', FULL, '--delta', DELTA);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.trim().split('\n');
  expect(lines).toHaveLength(9);
  // recorded from HORNET's tool (test/vectors/README.md)
  expect(lines).toContain(
    'state hash      987f45404baa75ebb31617db0dda5458367b1da1a1bc2859a860c2498e796b9e',
  );
  expect(stdout).toMatch(/^network {9}stardust_sample1\nledger index {4}81$/m);
  expect(stdout).toMatch(/^outputs {9}406 {2}0x[0-9a-f]{64}\nNFTs {12}60 {2}0x[0-9a-f]{64}$/m);
  expect(stdout).toMatch(/^final root {6}0x[0-9a-f]{64}$/m);
});

it('refuses what is no snapshot, and prints no hash', async () => {
  const short = join(folder, 'short.bin');
  writeFileSync(short, readFileSync(FULL).subarray(0, -1));
  for (const args of [[DELTA], [short], [FULL, '--delta', FULL], ['/nowhere.bin']]) {
    const { code, stdout } = await callCommand('ledger-root', ...args);
    expect([args, code, stdout]).toEqual([args, 1, '']);
  }
  expect((await callCommand('ledger-root')).code).toBe(2);
});

it('takes outputs in any order', async () => {
  const parts = [...fullSnapshot(madeNetwork([]), { target: GENESIS_INDEX })];
  const [header, a, b, c, ...rest] = parts as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  const path = join(folder, 'order.bin');
  const roots: string[] = [];
  for (const [first, ...others] of [
    [a, b, c],
    [b, c, a],
    [c, a, b],
  ])
    for (const outputs of [others, others.toReversed()]) {
      writeFileSync(path, Buffer.concat([header, first!, ...outputs, ...rest]));
      roots.push((await computeLedgerRoot({ full: path })).root.toHex());
    }
  expect(roots).toEqual(Array.from(roots, () => roots[0]));
});

it('reads no other file than the one that it hashed', async () => {
  const index = new RecordIndex();
  await mergeSnapshot(openSnapshotFile(FULL), undefined, index);
  expect([...index.read({ full: FULL })]).toHaveLength(1);
  // as long, with another output in the same place
  const replaced = readFileSync(FULL);
  replaced[92 + replaced.readUInt16LE(90) + 14]! ^= 1;
  const path = join(folder, 'replaced.bin');
  writeFileSync(path, replaced);
  expect(() => [...index.read({ full: path })]).toThrow('changed while it was read');
});
