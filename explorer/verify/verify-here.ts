/**
 * `npm run verify`, in the browser: the same checks of the same modules, against the node that the
 * page comes from.
 */
import type { NodeClient } from '../../scripts/lib/node-client.ts';
import { verifyFinal } from '../../scripts/verify/verify-final.ts';
import { NotVerified, verifyNode } from '../../scripts/verify/verify-node.ts';
import { fromHex } from '../../src/stardust/encoding/bytes.ts';
import { parseKeys } from './parse-keys.ts';

export { NotVerified };

/**
 * Yields a sentence for each check that passed. Throws a {@link NotVerified} for the first that
 * does not, and an Error if the keys are no keys or the node does not answer.
 *
 * @param publicKeys in hex, separated by commas or white space
 * @param threshold how many of them must have signed; empty: all
 */
export function verifyHere(publicKeys: string, threshold: string): AsyncGenerator<string, void> {
  return verifyNode(askHere, parseKeys(publicKeys, threshold), Math.random());
}

/**
 * Yields what the final root proves of the ledger and of an ID, and throws as {@link verifyHere}.
 *
 * @param root 0x and 64 hex digits, from a source that the visitor trusts
 * @param id of an output or an NFT, 0x…; empty: of none
 */
export async function* verifyFinalHere(root: string, id: string): AsyncGenerator<string, void> {
  if (!/^0x[0-9a-fA-F]{64}$/.test(root)) throw new Error('The root must be 0x and 64 hex digits');
  yield* verifyFinal(askHere, fromHex(root), id === '' ? [] : [id]);
}

const askHere: NodeClient = (path, { body, accept } = {}) =>
  fetch(path, {
    // a copy of a cache is not what the node says now
    cache: 'no-store',
    ...(accept !== undefined && { headers: { accept } }),
    ...(body !== undefined && { method: 'POST', body }),
  });
