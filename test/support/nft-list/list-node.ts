/**
 * What of a node answers about NFTs and outputs, over a database alone.
 */
import type { Database } from '../../../src/ledger/core/database.ts';
import {
  readIndexedKinds,
  readOutputList,
  readOutputOfChain,
} from '../../../src/ledger/output-list/read-list.ts';
import { readNftCertificate } from '../../../src/ledger/provenance/nft-certificate.ts';
import { readNftHistory } from '../../../src/ledger/provenance/nft-history.ts';
import { readCollectionOwners } from '../../../src/ledger/read/collection-owners.ts';
import { readNftChanges } from '../../../src/ledger/read/nft-changes.ts';
import { readNftGallery } from '../../../src/ledger/read/nft-gallery.ts';
import { readNftOutputs } from '../../../src/ledger/read/nft-outputs.ts';
import { readOutput } from '../../../src/ledger/read/output-status.ts';
import type { EdgeNode } from '../../../src/node/edge-node.ts';

/** What the node asks the database, and no more than that. */
export function nodeOver(
  db: Database,
): Pick<
  EdgeNode,
  | 'listOutputs'
  | 'lookUpChain'
  | 'readIndexedKinds'
  | 'listNftOutputs'
  | 'readNfts'
  | 'readNftChanges'
  | 'readCollectionOwners'
  | 'readNftHistory'
  | 'readNftCertificate'
  | 'readOutput'
> {
  return {
    listOutputs: (query) => readOutputList(db, query),
    lookUpChain: (kind, id) => readOutputOfChain(db, kind, id),
    readIndexedKinds: () => readIndexedKinds(db),
    listNftOutputs: (query) => readNftGallery(db, query),
    readNfts: (ids) => readNftOutputs(db, ids),
    readCollectionOwners: (query) => readCollectionOwners(db, query),
    readNftChanges: (after) => readNftChanges(db, after),
    readNftHistory: (nftId, pageSize, from) => readNftHistory(db, nftId, pageSize, from),
    readNftCertificate: (nftId, named) => readNftCertificate(db, nftId, named),
    readOutput: (outputId) => readOutput(db, outputId),
  };
}
