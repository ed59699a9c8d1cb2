/**
 * The hasher of an isolate's white-flag roots, by the setting TREE_HASHER; it is logged when what
 * was asked for does not prove right and is not used.
 */
import { writeLog } from '../log.ts';
import {
  chooseTreeHasher,
  type TreeHasherName,
} from '../stardust/tree-hasher/choose-tree-hasher.ts';
import type { TreeHasher } from '../stardust/tree-hasher/tree-hasher.ts';

export function openTreeHasher(setting: TreeHasherName): TreeHasher {
  const { hasher, fault } = chooseTreeHasher(setting);
  if (fault !== undefined) writeLog('error', 'tree hasher', { fault, instead: hasher.name });
  return hasher;
}
