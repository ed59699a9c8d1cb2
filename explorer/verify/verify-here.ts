/**
 * `npm run verify`, in the browser: the same checks of the same modules, against the node that the
 * page comes from.
 */
import { NotVerified, verifyNode } from '../../scripts/verify/verify-node.ts';
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
  return verifyNode(
    (path, { body, accept } = {}) =>
      fetch(path, {
        // a copy of a cache is not what the node says now
        cache: 'no-store',
        ...(accept !== undefined && { headers: { accept } }),
        ...(body !== undefined && { method: 'POST', body }),
      }),
    parseKeys(publicKeys, threshold),
    Math.random(),
  );
}
