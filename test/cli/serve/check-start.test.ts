/**
 * What `npm run serve` tells an operator at the start, and how many connections it takes.
 */
import { readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { noteStart } from '../../../cli/serve/check-start.ts';
import { limitConnections } from '../../../cli/serve/file-limit.ts';
import { SNAPSHOT } from '../../../cli/start/sample.ts';
import { LedgerDamaged } from '../../../src/ledger/core/checksum.ts';
import { readHead } from '../../../src/ledger/core/head.ts';
import { notingDamage } from '../../../src/ledger/core/write-head.ts';
import { loadSnapshot } from '../../../src/ledger/import/load-snapshot.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';

const FOLLOWED = { UPSTREAM_URL: 'https://a.example' };

function sample() {
  return { size: statSync(SNAPSHOT).size, chunks: new Blob([readFileSync(SNAPSHOT)]).stream() };
}

it('that there is no ledger, and that nothing is followed', async () => {
  const db = await openMemory();
  const noLedger = '/a has no ledger: npx stardust-edge import FILE --persist-to /a';
  expect(await noteStart(db, '/a', FOLLOWED)).toEqual([noLedger]);
  for (const vars of [{}, { UPSTREAM_URL: '' }, { UPSTREAM_URL: ' ' }]) {
    expect(await noteStart(db, '/a', vars)).toEqual([
      noLedger,
      'UPSTREAM_URL is not set: nothing is followed',
    ]);
  }
});

it('where the ledger stays, and nothing where it is followed', async () => {
  const db = await openMemory();
  await loadSnapshot(db, sample(), undefined);
  expect(await noteStart(db, '/a', FOLLOWED)).toEqual([]);
  expect(await noteStart(db, '/a', {})).toEqual([
    'UPSTREAM_URL is not set: nothing is followed, the ledger stays at 17338',
  ]);
});

it('that the ledger is of another version', async () => {
  const db = await openMemory();
  await loadSnapshot(db, sample(), undefined);
  db.exec('UPDATE head SET schema = 0');
  expect(await noteStart(db, '/a', FOLLOWED)).toEqual([
    expect.stringMatching(/^ledger schema 0 is not supported by this version, which reads /),
  ]);
});

it('that the ledger is of another version, also where a network is named', async () => {
  const db = await openMemory();
  await loadSnapshot(db, sample(), undefined);
  // sums were others
  db.exec('UPDATE head SET schema = 1, sum = 0; UPDATE parameters SET sum = 0');
  expect(await noteStart(db, '/a', FOLLOWED, 'shimmer')).toEqual([
    expect.stringMatching(/^ledger schema 1 is not supported by this version, which reads /),
  ]);
});

it('that the ledger is damaged: it starts, so that /health can say so', async () => {
  const db = await openMemory();
  await loadSnapshot(db, sample(), undefined);
  const work = () => Promise.reject(new LedgerDamaged('rows of the table nft'));
  const found = notingDamage(db, (await readHead(db))!, work);
  await expect(found).rejects.toThrow(LedgerDamaged);
  const sentence = /^rows of the table nft are damaged on disk: restore a back-up /;
  expect(await noteStart(db, '/a', FOLLOWED)).toEqual([expect.stringMatching(sentence)]);
  db.exec('UPDATE head SET sum = sum + 1');
  expect(await noteStart(db, '/a', FOLLOWED)).toHaveLength(1);
});

it('no network where its parameters are damaged: it starts where none is named', async () => {
  const db = await openMemory();
  await loadSnapshot(db, sample(), undefined);
  await expect(noteStart(db, '/a', FOLLOWED, 'iota-final')).rejects.toThrow(
    'the ledger is of network shimmer, but --network iota-final is of iota-mainnet',
  );
  expect(await noteStart(db, '/a', FOLLOWED, 'shimmer')).toEqual([]);
  db.exec('UPDATE parameters SET sum = sum + 1');
  await expect(noteStart(db, '/a', FOLLOWED, 'shimmer')).rejects.toThrow(LedgerDamaged);
  expect(await noteStart(db, '/a', FOLLOWED)).toEqual([]);
  // no name to compare: /health says that they are missing
  db.exec('DELETE FROM parameters');
  expect(await noteStart(db, '/a', FOLLOWED, 'shimmer')).toEqual([]);
});

it('that the ledger is past its final milestone', async () => {
  const db = await openMemory();
  await loadSnapshot(db, sample(), undefined);
  const at = (final: string) => noteStart(db, '/a', { ...FOLLOWED, FINAL_MILESTONE: final });
  expect(await at('17338')).toEqual([]);
  expect(await at('17337')).toEqual([
    'FINAL_MILESTONE is 17337, but the ledger is at 17338 already',
  ]);
});

it('the limit of open files bounds connections, and too low a one is an error', () => {
  expect(limitConnections(1_048_576)).toEqual({ maxConnections: 20_000, note: undefined });
  expect(limitConnections(Number.POSITIVE_INFINITY).maxConnections).toBe(20_000);
  expect(limitConnections(60_500)).toEqual({ maxConnections: 20_000, note: undefined });
  expect(limitConnections(60_499).note).toMatch(/^A process may open 60499 files/);
  expect(limitConnections(4096)).toEqual({
    maxConnections: 1198,
    note: 'A process may open 4096 files (ulimit -n), enough for 1198 connections: raise the limit to 65536',
  });
  expect(() => limitConnections(1249)).toThrow(
    'a process may open only 1249 files (ulimit -n): raise the limit to 65536',
  );
});

it('this process has a limit', () => {
  expect(limitConnections().maxConnections).toBeGreaterThan(0);
});
