/**
 * What of a node answers about NFTs and outputs, over a database alone.
 */
import type { Database } from '../../../src/ledger/core/database.ts';
import { readNftList } from '../../../src/ledger/nft-list/read-list.ts';
import { readNftOutputs } from '../../../src/ledger/read/nft-outputs.ts';
import { readOutput } from '../../../src/ledger/read/output-status.ts';
import type { EdgeNode } from '../../../src/node/edge-node.ts';

/** What the node asks the database, and no more than that. */
export function nodeOver(db: Database): Pick<EdgeNode, 'listNfts' | 'readNfts' | 'readOutput'> {
  return {
    listNfts: (query) => readNftList(db, query),
    readNfts: (nftIds) => readNftOutputs(db, nftIds),
    readOutput: (outputId) => readOutput(db, outputId),
  };
}
