/**
 * The NFT index in the local KV namespace, the one that `wrangler dev --persist-to DIR` serves
 * from.
 *
 * It is written by miniflare, which takes more memory than the rest of an import and starts a
 * server. Therefore that happens in a process of its own.
 */
import { join } from 'node:path';
import { startChild } from '../process/child.ts';

/** Puts all NFTs of the local ledger into the index. */
export async function publishLocally(persistTo: string): Promise<void> {
  const code = await startChild(join(import.meta.dirname, 'publish-index.ts'), [persistTo]).ended;
  if (code !== 0) throw new Error('the NFT index could not be put into KV');
}
