/**
 * What the page calls to verify the node from which it comes: {@link verifyNode}, as `npm run
 * verify` calls it, and keys as people paste them. `npm run bundle-verifier` makes a script for
 * browsers of this module.
 */
import { parseMilestoneKeys } from '../lib/import/milestone-keys.ts';
import { NotVerified, verifyNode } from './verify-node.ts';

export { NotVerified };

/**
 * Yields what was found right, and throws, as {@link verifyNode} does. Throws an Error too where
 * the keys are no keys.
 *
 * @param publicKeys in hex, separated by commas or white space
 * @param threshold how many of them must have signed; empty: all
 */
export function verifyHere(publicKeys: string, threshold: string): AsyncGenerator<string, void> {
  const list = publicKeys.split(/[\s,]+/).filter((key) => key !== '');
  const keys = parseMilestoneKeys(list.join(), threshold || String(list.length));
  if (keys === undefined) throw new Error('no keys are given');
  return verifyNode(
    (path, { body, accept } = {}) =>
      fetch(path, {
        // what a cache kept is not what the node says now
        cache: 'no-store',
        ...(accept !== undefined && { headers: { accept } }),
        ...(body !== undefined && { method: 'POST', body }),
      }),
    keys,
    Math.random(),
  );
}
