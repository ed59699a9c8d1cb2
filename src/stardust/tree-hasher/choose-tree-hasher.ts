/**
 * Which hasher works out the roots of requests. Noble's, unless the setting asks for the unrolled
 * one and that one has shown, in this engine, that it is right.
 */
import { toHexDigits } from '../bytes.ts';
import { reduceToRoot } from '../merkle.ts';
import { nobleTreeHasher } from './noble-tree-hasher.ts';
import { HASH_WORDS, type TreeHasher } from './tree-hasher.ts';
import { unrolledTreeHasher } from './unrolled-tree-hasher.ts';

export type TreeHasherName = 'noble' | 'unrolled';

export interface ChosenTreeHasher {
  hasher: TreeHasher;
  /** Why the hasher that was asked for is not used, if it is not. */
  fault?: string;
}

/**
 * Nodes whose hash is known: what each word of both children is, and the parent in hex, by Python's
 * `hashlib.blake2b(b'\x01' + children, digest_size=32)`. Carries, signs and byte order show here.
 */
const KNOWN_NODES: readonly { wordAt: (i: number) => number; parent: string }[] = [
  {
    wordAt: () => 0,
    parent: '086dabbfde6914778334b717e94921e353b7cc3f103cd2d19c5a825f30c067cc',
  },
  {
    wordAt: () => 0xffff_ffff,
    parent: '0fa7d047ed75fb8de1afd39800243e5f9aeca52c322ee43e2d81fcf2bdd7bcb9',
  },
  {
    // the bytes from 0 to 63
    wordAt: (i) => 0x0302_0100 + i * 0x0404_0404,
    parent: '65a386efc0b9954da9312c6e07616c7102c8074eb3d204ef7dba08d049b7ba73',
  },
  {
    wordAt: () => 0x7f80_7f80,
    parent: '3102165b30372eb2bf6e783e803ed49c8071d5c35d918bcb58b92ddb7f7dc5a9',
  },
];

/** Leaves of the tree that both hash: seven levels, on four of which a node is left over. */
const TREE_LEAVES = 101;

/**
 * Takes half a millisecond for `unrolled`, nothing for `noble`.
 *
 * @param candidate what `unrolled` means
 */
export function chooseTreeHasher(
  setting: TreeHasherName,
  candidate: TreeHasher = unrolledTreeHasher,
): ChosenTreeHasher {
  if (setting === 'noble') return { hasher: nobleTreeHasher };
  const fault = findFault(candidate);
  return fault === undefined ? { hasher: candidate } : { hasher: nobleTreeHasher, fault };
}

/** In what the hasher differs from the known nodes, or from noble's; undefined if in nothing. */
function findFault(candidate: TreeHasher): string | undefined {
  for (const { wordAt, parent } of KNOWN_NODES) {
    const words = Uint32Array.from({ length: 2 * HASH_WORDS }, (_, i) => wordAt(i));
    const hash = toHexDigits(reduceToRoot(words, 2, candidate));
    if (hash !== parent) return `${candidate.name}: a node is ${hash} and must be ${parent}`;
  }
  const root = toHexDigits(reduceToRoot(treeLeaves(), TREE_LEAVES, candidate));
  const expected = toHexDigits(reduceToRoot(treeLeaves(), TREE_LEAVES, nobleTreeHasher));
  if (root !== expected) {
    return `${candidate.name}: the root of ${TREE_LEAVES} leaves is ${root}, by noble ${expected}`;
  }
  return undefined;
}

/** Words without a pattern; what hashes them mixes them better than this does. */
function treeLeaves(): Uint32Array {
  return Uint32Array.from({ length: TREE_LEAVES * HASH_WORDS }, (_, i) =>
    Math.imul(i + 1, 0x9e37_79b1),
  );
}
