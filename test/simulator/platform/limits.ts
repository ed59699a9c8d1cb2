/**
 * Small limits: packs of a few blocks, pages of a few packs, a few blocks in a step. What takes
 * thousands of blocks otherwise comes about in a run of thirty milestones. The limits are constants
 * of the product, which nobody sets; so they are changed as the source is bundled, and a constant
 * that is not there any more is an error.
 */

export const LIMITS = ['usual', 'small', 'tiny'] as const;
export type Limits = (typeof LIMITS)[number];

/** Bytes of heap for blocks that are not stored yet, and blocks that no milestone references. */
export const LIMITED_POOL_BYTES = 6_000_000;
export const UNREFERENCED_BLOCKS: Readonly<Record<Limits, number>> = {
  usual: 100_000,
  small: 150,
  tiny: 80,
};

/** Milestones that are kept: IDs, too, are forgotten within thirty milestones then. */
export const LEAST_RETENTION = 8;

/** By file, the value of each constant: as small as it may be, and some way above that. */
const VALUES: Record<string, Record<string, readonly [tiny: number, small: number]>> = {
  'src/follower/follower-context.ts': { MAX_POOL_HEAP_BYTES: [90_000, LIMITED_POOL_BYTES] },
  'src/ledger/view/cone-blocks.ts': {
    MAX_VERIFIED_FOR_REQUEST: [3, 10],
    VERIFIED_AT_ONCE: [2, 10],
  },
  'src/follower/complete-milestone.ts': { MAX_RESOLVING_STEPS: [3, 8] },
  'src/follower/bring/bring-blocks.ts': { MAX_LEVELS: [2, 6], RESOLVING_STEPS: [2, 5] },
  'src/follower/upkeep.ts': { RESOLVING_STEPS: [2, 5] },
  'src/follower/pushed/pushed-milestones.ts': { MAX_HELD: [3, 8], MAX_OF_INDEX: [2, 4] },
  'src/follower/pushed/store-pushed.ts': { MAX_TOPS: [2, 20] },
  'src/follower/store/gather-blocks.ts': {
    MAX_QUERIED: [4, 30],
    QUERIED_AT_ONCE: [2, 10],
    MAX_FETCHED_HEAP_BYTES: [30_000, 100_000],
    FETCHED_AT_ONCE: [2, 8],
  },
  'src/follower/store/store-gathered.ts': {
    MAX_STORED: [2, 20],
    MAX_STORED_HEAP_BYTES: [10_000, 50_000],
  },
  'src/follower/store/leave-out.ts': { QUERIED_AT_ONCE: [1, 5] },
  'src/follower/store/store-cone.ts': {
    MAX_LEVELS: [2, 6],
    PART_STEP: [1, 3],
    LEVELS_AT_ONCE: [12, 40],
    PARTS_AT_ONCE: [2, 6],
  },
  'src/follower/store/store-tips.ts': {
    MAX_FETCHED: [10, 40],
    MAX_LEVELS: [3, 10],
    MAX_CUT: [6, 20],
  },
  'src/ledger/core/database.ts': { MAX_TEXT: [200, 2000] },
  'src/ledger/packs/pack-columns.ts': {
    MAX_PACK_BLOCKS: [3, 60],
    MAX_PACK_LENGTH: [8000, 100_000],
  },
  'src/ledger/intake/cone-skeleton.ts': { WALKED_AT_ONCE: [2, 10] },
  'src/ledger/packs/view-pages.ts': { PAGE: [1, 2] },
  'src/ledger/write/apply-statements.ts': { MAX_PART_BLOCKS: [2, 10] },
  'src/ledger/write/drop-blocks.ts': {
    ORPHAN_MARGIN_MILESTONES: [1, 2],
    MAX_STEP_PACKS: [1, 3],
    'UNREFERENCED_LIMITS.blocks': [UNREFERENCED_BLOCKS.tiny, UNREFERENCED_BLOCKS.small],
    'UNREFERENCED_LIMITS.mentions': [1000, 2000],
  },
  'src/ledger/write/output-changes.ts': { NAMED_AT_ONCE: [2, 5], READ_AT_ONCE: [1, 2] },
  'src/ledger/write/prune.ts': {
    STEP: [2, 10],
    PACK_STEP: [1, 3],
    MAX_PACK_STEPS: [2, 5],
    ID_RETENTION: [2, 2],
    MIN_RETENTION: [LEAST_RETENTION, LEAST_RETENTION],
  },
  'src/settings.ts': { MIN_RETENTION_MILESTONES: [LEAST_RETENTION, LEAST_RETENTION] },
  'src/ledger/packs/live-packs.ts': { WAITING_AT_ONCE: [1, 2], IDS_PAGE: [1, 3] },
  'src/ledger/write/resolve-verdicts.ts': { INPUTS_AT_ONCE: [2, 20] },
};

/** The source of a file with these limits. */
export function withLimits(limits: Limits, file: string, source: string): string {
  const values = VALUES[file];
  if (limits === 'usual' || values === undefined) return source;
  const choice = limits === 'tiny' ? 0 : 1;
  return Object.entries(values).reduce(
    (changed, [name, each]) => withConstant(changed, name, each[choice], file),
    source,
  );
}

function withConstant(source: string, name: string, value: number, path: string): string {
  const [constant, field] = name.split('.');
  const before =
    field === undefined
      ? `const ${constant}(?:: \\w+)? = `
      : `const ${constant}\\b[^;]*?\\b${field}: `;
  const number = new RegExp(`(${before})[\\d_]+`);
  if (!number.test(source)) throw new Error(`${path} has no number ${name}`);
  return source.replace(number, `$1${value}`);
}
