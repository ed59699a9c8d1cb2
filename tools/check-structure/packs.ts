/**
 * Checks that only src/ledger/packs/ knows the tables of packs, and that positions in the lists
 * that a column has are written beside the codec of the column.
 */
import type { Sources } from './names.ts';

const HOME = 'src/ledger/packs/';

const TABLE = /\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\s+pack(?:_content)?\b/g;

const POSITION = /\b(\w+)\.value\s*->>?\s*'?\$?\[?\d/g;

/** Names that a file gives to bound lists, which it makes itself. */
const BOUND_LIST = /json_each\(\?\d\)\s+(\w+)/g;

/** A sentence for each place outside of src/ledger/packs/ that knows what a pack is made of. */
export function findOutsidePacks(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => {
    if (!/^(?:src|cli)\//.test(file) || file.startsWith(HOME)) return [];
    const bound = new Set(Array.from(text.matchAll(BOUND_LIST), ([, name]) => name));
    const positions = [...text.matchAll(POSITION)].filter(([, name]) => !bound.has(name));
    return [...text.matchAll(TABLE), ...positions].map(({ 0: found, index }) => {
      const line = text.slice(0, index).split('\n').length;
      return `${file}:${line}: "${found}" is of packs: ${HOME} has functions for it`;
    });
  });
}
