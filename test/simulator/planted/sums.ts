/**
 * Each kind of check by which damage on disk is seen (docs/storage.md#damage-on-disk), taken away:
 * without it a test must fail, or it is not needed. test/slow/sums.ts runs the tests.
 */
import type { Plant } from './plants.ts';

export interface RemovedCheck extends Plant {
  /** Matches the tables that the tests damage. */
  tables: string;
  /** The test that must fail, below test/, without `.test.ts`. */
  seenBy: string;
}

const FLIPS = 'whole/flipped-columns';
/** Places that random flips rarely hit, or rows that vanish, which no flip does. */
const EACH = 'ledger/packs/each-check';
const SCRUB = 'ledger/write/scrub';

/** Where it is not {@link FLIPS}. */
const SEEN_BY: Readonly<Record<string, string>> = {
  'pack-next': EACH,
  'pack-chains': EACH,
  'nft-burned': EACH,
  'nft-spent': EACH,
  'kind-created': EACH,
  'window-counted': EACH,
  'nft-scrub': SCRUB,
  'row-milestone_part': EACH,
  'row-id': EACH,
  'row-nft_index': EACH,
  'row-final_page': 'modules/final/final-ledger',
  'fingerprint-output': SCRUB,
  'fingerprint-id_': SCRUB,
  'fingerprint-nft_past': 'modules/histories/nft-history',
  'fingerprint-small': SCRUB,
  kv: 'nft-index/kv-values',
  'count-unreferenced': EACH,
  'count-referenced': EACH,
  'contradicted-states': 'ledger/view/noted-states',
};

/** @param texts a file below src/, what is found in it, what stands there instead; and so on */
function removed(name: string, tables: string, wrong: string, ...texts: string[]): RemovedCheck {
  const changes = texts.flatMap((file, i) =>
    i % 3 === 0 ? [{ file: `src/${file}`, text: texts[i + 1]!, instead: texts[i + 2]! }] : [],
  );
  return { name, wrong, tables, seenBy: SEEN_BY[name] ?? FLIPS, changes };
}

const packColumn = (column: string, ...texts: string[]) =>
  removed(
    `pack-${column}`,
    'pack',
    `${column} of a pack have no checksum`,
    'ledger/packs/pack-columns.ts',
    'requireChecksum(bytes, sums[column],',
    `if (column !== '${column}') requireChecksum(bytes, sums[column],`,
    ...texts,
  );

const rowSum = (table: string, tables = table) =>
  removed(
    `row-${table}`,
    tables,
    `rows of ${table} have no sum`,
    'ledger/core/read-batch.ts',
    'requireRowSum(cells,',
    `if (table !== '${table}') requireRowSum(cells,`,
  );

const fingerprint = (table: string, tables: string) =>
  removed(
    `fingerprint-${table}`,
    tables,
    `the rows of ${table} have no fingerprint`,
    'ledger/write/scrub.ts',
    'fingerprints[table] !== sum)',
    `!table.startsWith('${table}') && fingerprints[table] !== sum)`,
  );

export const REMOVED_CHECKS: readonly RemovedCheck[] = [
  packColumn(
    'records',
    'ledger/packs/live-packs.ts',
    'requireChecksum(records, sums.records,',
    'if (key < 0) requireChecksum(records, sums.records,',
  ),
  packColumn(
    'statuses',
    'ledger/packs/pack-columns.ts',
    'requireChecksum(bytes, statuses,',
    'if (bytes.length < 0) requireChecksum(bytes, statuses,',
  ),
  packColumn('states'),
  removed(
    'pack-next',
    'pack',
    'free numbers of a pack have no sum',
    'ledger/packs/next-numbers.ts',
    "row.integer('is_whole') !== 1",
    "row.integer('is_whole') > 1",
  ),
  removed(
    'pack-blocks',
    'pack',
    'IDs of blocks have no sum',
    'ledger/packs/id-rows.ts',
    'requireRowSum([number, id, payload]',
    'if (number < 0) requireRowSum([number, id, payload]',
  ),
  removed(
    'pack-outputs',
    'pack',
    'IDs of outputs have no sum',
    'ledger/packs/id-rows.ts',
    'requireRowSum([number, id], sum,',
    'if (number < 0) requireRowSum([number, id], sum,',
  ),
  removed(
    'pack-chains',
    'pack',
    'chains of outputs have no sum',
    'ledger/packs/id-rows.ts',
    'requireRowSum([chain]',
    "if (chain === '') requireRowSum([chain]",
  ),
  removed(
    'spent',
    'milestone_part',
    'outputs that were spent have no sum',
    'ledger/packs/milestone-part.ts',
    'requireRowSum([id',
    'if (created < 0) requireRowSum([id',
  ),
  removed(
    'contents',
    'output|output_rest|pack_content|milestone_part',
    'contents of outputs have no checksum',
    'ledger/core/output-bytes.ts',
    'if (sum === checksum(bytes, NOT_EMPTY))',
    'if (outputId.length === 68 || sum === checksum(bytes, NOT_EMPTY))',
  ),
  removed(
    'payload',
    'milestone',
    'payloads of milestones have no checksum',
    'ledger/core/output-bytes.ts',
    'if (sum === checksum(bytes, NOT_EMPTY))',
    'if (outputId.length === 64 || sum === checksum(bytes, NOT_EMPTY))',
  ),
  removed(
    'block-bytes',
    'pack_content',
    'bytes of blocks are not compared with the ID',
    'ledger/read/stored-block.ts',
    'if (blake2b256(bytes)',
    'if (bytes.length === 0 && blake2b256(bytes)',
    'modules/events/milestone-events.ts',
    '!result.ok || toHexDigits(result.parsed.id) !== id',
    '!result.ok',
    'ledger/view/cone-blocks.ts',
    'result?.ok && isBlockAt(cone, position, result.parsed.id)',
    'result?.ok',
    'ledger/write/resolve-verdicts.ts',
    '!parsed.ok || !isBlockAt(cone, at, parsed.parsed.id)',
    '!parsed.ok',
  ),
  removed(
    'nft',
    'nft',
    'rows of nft are not compared with outputs where they are read',
    'ledger/core/nft-rows.ts',
    "if (output === null ? row.integer('nft_burned') !== 1 : row.textOrNull('nft_held') !== nft)",
    "if (output === null && row.integer('nft_burned') !== 1)",
  ),
  removed(
    'nft-burned',
    'nft',
    'burned NFTs are not looked for in lists',
    'ledger/core/nft-rows.ts',
    "row.integer('nft_burned') !== 1",
    "row.integer('nft_burned') > 1",
  ),
  removed(
    'nft-spent',
    'nft|output',
    'row, chain and content of an NFT are not compared when it is spent',
    'ledger/write/output-changes.ts',
    'if (isNft !== (chain !== null',
    'if (index < 0 && isNft !== (chain !== null',
  ),
  removed(
    'kind-created',
    'pack_content',
    'what is listed of an output and its content are not compared when it comes',
    'ledger/write/output-changes.ts',
    'if ((nft !== null) !== (',
    'if (index < 0 && (nft !== null) !== (',
  ),
  removed(
    'window-counted',
    'nft_change',
    'changes of NFTs are not counted where recent is made of them',
    'nft-index/d1-ledger.ts',
    'if (isOwn && changes !== undefined &&',
    'if (listed < 0 &&',
  ),
  removed(
    'nft-scrub',
    'nft',
    'the scrub does not compare nft with outputs',
    'ledger/write/scrub.ts',
    'if (isNft && stateOf.get',
    'if (created < 0 && stateOf.get',
  ),
  removed(
    'output_detail',
    'output_detail',
    'the scrub does not compare output_detail with outputs',
    'ledger/write/scrub.ts',
    'if (isListed && listed',
    'if (created < 0 && isListed && listed',
    'ledger/write/scrub.ts',
    "if (row.integerOrNull('known') !== 1)",
    "if (row.integerOrNull('known') === -1)",
  ),
  removed(
    'nft_change-scrub',
    'nft_change|nft',
    'changes of NFTs are not compared with counts by the scrub and pruning',
    'ledger/core/nft-rows.ts',
    'if (counted !== null &&',
    'if (counted === -1 &&',
  ),
  removed(
    'nft_change-read',
    'nft_change|nft',
    'changes of NFTs are not compared with counts where they are read',
    'modules/histories/nft-changes.ts',
    '&& total !== count) throw damaged();',
    '&& total !== count) total += 0;',
    'modules/histories/nft-changes.ts',
    'const isWhole = total === last;',
    'const isWhole = total === last || last - first <= maxChanges;',
    'modules/histories/nft-changes.ts',
    'if (states.length !== ids.size || states.some(([id]) => !ids.has(id))) throw damaged();',
    '',
  ),
  removed(
    'final-proof',
    'final_.*',
    'proofs are not verified against the final root',
    'modules/final/prove-final.ts',
    'return verdict.ok ?',
    'return verdict !== undefined ?',
  ),
  removed(
    'final-root',
    'final_.*',
    'the final root is not compared with what it commits to',
    'modules/final/final-tables.ts',
    'if (built !== undefined && !equalBytes',
    'if (built !== undefined && built.root.length === 0 && !equalBytes',
  ),
  ...['head', 'milestone', 'milestone_part', 'output', 'parameters', 'receipt'].map((table) =>
    rowSum(table),
  ),
  rowSum('id', 'id_\\d'),
  ...['nft_past', 'nft_index', 'final_page'].map((table) => rowSum(table)),
  fingerprint('output', 'output'),
  fingerprint('id_', 'id_\\d'),
  fingerprint('nft_past', 'nft_past'),
  removed(
    'fingerprint-small',
    'parameters|receipt',
    'the rows of parameters and receipt have no fingerprint',
    'ledger/write/scrub.ts',
    'integrity.smallAt === ledger && sum !== fingerprints[table]',
    'integrity.smallAt === ledger && sum > fingerprints[table]!',
  ),
  removed(
    'kv',
    'none',
    'values in KV have no checksum',
    'nft-index/kv-values.ts',
    'if (text.slice(0, start) !==',
    'if (text.length < 0 && text.slice(0, start) !==',
  ),
  removed(
    'count-unreferenced',
    'pack',
    'unreferenced blocks are not counted',
    'ledger/view/consistent-view.ts',
    '(readsLive === 1 && unreferenced !== stored) ||',
    '(readsLive === 1 && unreferenced < 0) ||',
  ),
  removed(
    'count-referenced',
    'pack|milestone_part|id_\\d',
    'referenced blocks are not counted where a walk reads them',
    'ledger/view/consistent-view.ts',
    'referenced !== due)',
    'referenced < 0)',
  ),
  removed(
    'count-listed',
    'pack|milestone_part',
    'blocks of a milestone are not counted where they are listed',
    'ledger/packs/referenced-blocks.ts',
    'if (blocks.length !== count)',
    'if (count < 0)',
  ),
  removed(
    'contradicted-states',
    'pack',
    'states of an output in two packs are not compared',
    'ledger/packs/view-pages.ts',
    'if (isContradicted)',
    'if (isContradicted && pack.key < 0)',
  ),
];
