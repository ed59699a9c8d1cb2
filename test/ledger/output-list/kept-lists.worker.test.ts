/**
 * The table of lists in D1: filled by an import, and kept by milestones.
 */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { loadSnapshot } from '../../../src/ledger/import/load-snapshot.ts';
import { LIST_CELLS, listRow } from '../../../src/ledger/output-list/list-rows.ts';
import '../../support/vectors-in-workerd.ts';
import { asFile, followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { deltaSnapshot, fullSnapshot } from '../../support/network/network-snapshot.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';
import { LAST_INDEX, recordedNfts } from '../../support/nft-list/recorded-nfts.ts';

const db = env.LEDGER;
const network = recordedNetwork('network-n');
const nftsAt = recordedNfts();

/** All columns of all rows, in the order of lists. */
function storedDetails(): Promise<unknown[]> {
  return db.prepare(`SELECT ${LIST_CELLS} FROM output_detail ORDER BY 1, 2`).raw();
}

function expectedDetails(index: number): unknown[] {
  return nftsAt(index)
    .map(({ output, outputId, createdTime }) => [...listRow(output, outputId, createdTime)])
    .sort(([a, x], [b, y]) => Number(a) - Number(b) || (String(x) < String(y) ? -1 : 1));
}

describe('the table of lists', () => {
  it('is filled by the import, and kept by every milestone', async () => {
    const rig = await startLedger(db, network, 54);
    expect(await storedDetails()).toEqual(expectedDetails(54));
    for (let index = 60; index <= LAST_INDEX; index += 13) {
      await followTo(rig, index);
      expect(await storedDetails()).toEqual(expectedDetails(index));
    }
  });

  it('has what a delta leaves of the NFTs of a full snapshot', async () => {
    await loadSnapshot(
      db,
      asFile(fullSnapshot(network, { target: 40 })),
      asFile(deltaSnapshot(network, 40, LAST_INDEX)),
    );
    // else nothing was removed on the way
    const kept = new Set(nftsAt(LAST_INDEX).map(({ outputId }) => outputId));
    expect(nftsAt(40).some(({ outputId }) => !kept.has(outputId))).toBe(true);
    expect(await storedDetails()).toEqual(expectedDetails(LAST_INDEX));
  });
});
