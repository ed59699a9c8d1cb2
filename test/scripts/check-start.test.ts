/**
 * What `npm run serve` tells an operator at the start.
 */
import { readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { noteStart } from '../../scripts/serve/check-start.ts';
import { SNAPSHOT } from '../../scripts/start/sample.ts';
import { loadSnapshot } from '../../src/ledger/import/load-snapshot.ts';
import { openMemory } from '../support/ledger/memory-database.ts';

const UPSTREAM = 'https://a.example';

function sample() {
  return {
    size: statSync(SNAPSHOT).size,
    chunks: new Blob([readFileSync(SNAPSHOT)]).stream(),
  };
}

it('that there is no ledger, and that nothing is followed', async () => {
  const db = await openMemory();
  const noLedger = '/a has no ledger: npm run import -- --full FILE --persist-to /a';
  expect(await noteStart(db, '/a', UPSTREAM)).toEqual([noLedger]);
  for (const upstreams of [undefined, '', ' ']) {
    expect(await noteStart(db, '/a', upstreams)).toEqual([
      noLedger,
      'UPSTREAM_URL is not set: nothing is followed',
    ]);
  }
});

it('where the ledger stays, and nothing where it is followed', async () => {
  const db = await openMemory();
  await loadSnapshot(db, sample(), undefined);
  expect(await noteStart(db, '/a', UPSTREAM)).toEqual([]);
  expect(await noteStart(db, '/a', '')).toEqual([
    'UPSTREAM_URL is not set: nothing is followed, the ledger stays at 17338',
  ]);
});

it('that the ledger is of another version', async () => {
  const db = await openMemory();
  await loadSnapshot(db, sample(), undefined);
  db.exec('UPDATE head SET schema = 0');
  expect(await noteStart(db, '/a', UPSTREAM)).toEqual([
    expect.stringMatching(/^ledger schema 0 is not supported by this version, which reads /),
  ]);
});
