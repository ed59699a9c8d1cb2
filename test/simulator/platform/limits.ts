/**
 * Small limits: packs of a few blocks, pages of a few packs, a few blocks in a step. What takes
 * thousands of blocks otherwise comes about in a run of thirty milestones. The limits are constants
 * of the product, which nobody sets; so they are changed as the source is bundled, and a constant
 * that is not there any more is an error.
 */
import { Random } from '../../support/network/random.ts';

/**
 * `brief`: what is kept is kept for less time, and sizes are the usual ones. `tiny` and `small`: so
 * are the sizes. The others: each size is tiny, small or usual, by chance, always the same.
 */
export const LIMITS = [
  'usual',
  'brief',
  'small',
  'tiny',
  'mixed-1',
  'mixed-2',
  'mixed-3',
  'mixed-4',
  'mixed-5',
  'mixed-6',
] as const;
export type Limits = (typeof LIMITS)[number];

/** Bytes of heap for blocks that are not stored yet, where the limits are small. */
export const LIMITED_POOL_BYTES = 6_000_000;

/** Milestones that are kept: IDs, too, are forgotten within thirty milestones then. */
export const LEAST_RETENTION = 8;

/** As old as a copy of KV may be then, milliseconds: below MAX_COPY_AGE_MS. */
export const OLDEST_COPY_MS = 10_000;
/** How far clocks may jump then, milliseconds: below MAX_CLOCK_SKEW_MS. */
export const LARGEST_SKEW_MS = 1500;

/** Topics of all listeners together, where the limits are small. */
export const SHARED_TOPICS = 2000;

type Values = Record<string, Record<string, readonly [tiny: number, small: number]>>;

/** By file, constants that say how long something is kept, or how much; as small as it may be. */
const TIMES: Values = {
  'src/ledger/write/drop-blocks.ts': { ORPHAN_MARGIN_MILESTONES: [1, 2] },
  // one more than ID_RETENTION, as usual: so the table that is dropped is the next to begin
  'src/ledger/core/id-index.ts': { ID_TABLE_COUNT: [3, 3] },
  'src/ledger/write/prune.ts': {
    ID_RETENTION: [2, 2],
    MIN_RETENTION: [LEAST_RETENTION, LEAST_RETENTION],
  },
  'src/settings.ts': { MIN_RETENTION_MILESTONES: [LEAST_RETENTION, LEAST_RETENTION] },
  // a minute is two seconds; a change leaves the window after some 26 seconds
  'src/nft-index/timing-assumptions.ts': {
    MINUTE_MS: [2, 2],
    MAX_COPY_AGE_MS: [6, 6],
    MAX_WRITE_AGE_MS: [4, 4],
    MAX_RECENT_AGE_MS: [60, 60],
  },
};

/** What a flood is compared with: tiny or small as a whole. */
const BOUNDS: Values = {
  'src/follower/follower-context.ts': { MAX_POOL_HEAP_BYTES: [90_000, LIMITED_POOL_BYTES] },
  'src/ledger/write/drop-blocks.ts': {
    'UNREFERENCED_LIMITS.blocks': [80, 150],
    'UNREFERENCED_LIMITS.mentions': [1000, 2000],
  },
  // a thousand blocks with those that strangers send: more than a milestone after floods has
  'src/follower/store/store-cone.ts': {
    MAX_LIVE_HEAP_BYTES: [500_000, 600_000],
    // a walk past what is known takes as many levels of blocks before it asks where it is
    MAX_LEVELS: [2, 6],
  },
  // what a crowd is kept to; other listeners of a story have less together
  'src/modules/events/accounts.ts': {
    'SHARED_LIMITS.connections': [100, 100],
    'SHARED_LIMITS.topics': [SHARED_TOPICS, SHARED_TOPICS],
    // what is left of those who have closed counts against their site, and no longer than it is
    CHECKED_BYTES: [20_000, 20_000],
    KERNEL_BYTES: [2000, 2000],
  },
  // a pool is flooded at once
  'src/modules/feed/feed-connection.ts': { BYTES_OF_PACKET: [1_000_000, 1_000_000] },
  'src/modules/events/event-broker.ts': { MAX_LEFT_OF_SITE: [5, 10], MAX_SOCKETS: [210, 210] },
};

/** By file, the size of each step and page: as small as it may be, and some way above that. */
const SIZES: Values = {
  'src/ledger/view/cone-blocks.ts': {
    MAX_VERIFIED_FOR_REQUEST: [3, 10],
    FOLLOWER_PACKS_AT_ONCE: [1, 3],
  },
  'src/follower/apply-milestone.ts': { ENDS_AT_ONCE: [1, 3] },
  'src/follower/complete-milestone.ts': { MAX_KEPT: [300, 800], MAX_RESOLVING_STEPS: [3, 8] },
  'src/follower/bring/bring-blocks.ts': { MAX_LEVELS: [2, 6], RESOLVING_STEPS: [2, 5] },
  // where it is short damage is found before milestones carry it on
  'src/follower/upkeep.ts': { RESOLVING_STEPS: [2, 5], SCRUB_INTERVAL_MS: [10_000, 500] },
  'src/follower/pushed/pushed-milestones.ts': { MAX_HELD: [3, 8], MAX_OF_INDEX: [2, 4] },
  'src/follower/pushed/store-pushed.ts': { MAX_TOPS: [2, 20] },
  'src/follower/store/gather-blocks.ts': {
    MAX_QUERIED: [4, 30],
    QUERIED_AT_ONCE: [2, 10],
    MAX_FETCHED_HEAP_BYTES: [150_000, 400_000],
    MIN_FETCHED_HEAP_BYTES: [100_000, 200_000],
    FETCHED_AT_ONCE: [2, 8],
  },
  'src/follower/store/store-gathered.ts': {
    MAX_STORED: [2, 20],
    MAX_STORED_HEAP_BYTES: [10_000, 50_000],
  },
  'src/follower/store/leave-out.ts': { QUERIED_AT_ONCE: [1, 5], TOLD_AT_ONCE: [2, 10] },
  'src/follower/store/store-cone.ts': {
    PART_STEP: [1, 3],
    STATEMENTS_AT_ONCE: [12, 40],
    OF_PART: [4, 7],
    // in steps
    MAX_PART: [2, 4],
    MAX_PART_HEAP_BYTES: [10_000, 50_000],
  },
  // none: a milestone waits for its verdicts
  'src/follower/store/store-unreferenced.ts': { RESOLVING_STEPS: [0, 1] },
  'src/follower/store/store-tips.ts': {
    // fewer than an upstream names tips
    MAX_FETCHED: [5, 40],
    MAX_LEVELS: [3, 10],
    MAX_CUT: [30, 20],
  },
  'src/ledger/core/database.ts': { MAX_TEXT: [200, 2000] },
  'src/ledger/core/output-bytes.ts': { MAX_STEP_LENGTH: [1500, 8000] },
  // some of those texts are cut
  'cli/backup/cut-statements.ts': { MAX_STATEMENT_BYTES: [2000, 2000], ROOM_BYTES: [100, 100] },
  'src/ledger/packs/pack-columns.ts': {
    MAX_PACK_BLOCKS: [3, 60],
    MAX_PACK_LENGTH: [8000, 100_000],
  },
  'src/ledger/intake/cone-skeleton.ts': { WALKED_AT_ONCE: [2, 10] },
  'src/ledger/intake/prepare-blocks.ts': {
    MAX_READ_LENGTH: [500, 3000],
    MAX_READINGS: [1, 2],
  },
  'src/ledger/packs/view-pages.ts': { PAGE: [4, 2], PAGE_WITH_IDS: [4, 2] },
  'src/ledger/write/apply-statements.ts': {
    MAX_PART_BLOCKS: [2, 10],
    MAX_PART_SPENT: [2, 5],
    PARTS_AT_ONCE: [1, 3],
  },
  'src/ledger/write/milestone-changes.ts': { FIRST_USES: [2, 8] },
  'src/ledger/write/drop-blocks.ts': {
    MAX_STEP_PACKS: [1, 3],
  },
  'src/ledger/write/output-changes.ts': { NAMED_AT_ONCE: [2, 5], READ_AT_ONCE: [1, 2] },
  'src/ledger/write/prune.ts': {
    STEP: [2, 10],
    PACK_STEP: [1, 3],
    MAX_PACK_STEPS: [2, 5],
    CHANGES_STEP: [2, 5],
  },
  'src/ledger/packs/write-pack.ts': { KEPT_AT_ONCE: [2, 8] },
  'src/ledger/packs/live-packs.ts': { WAITING_AT_ONCE: [1, 2], IDS_PAGE: [1, 3] },
  'src/ledger/write/resolve-verdicts.ts': { INPUTS_AT_ONCE: [2, 4] },
  'src/ledger/write/write-ids.ts': { BLOCKS_AT_ONCE: [3, 20] },
  'src/ledger/write/scrub.ts': {
    STEP_OUTPUTS: [5, 50],
    STEP_ENTRIES: [10, 100],
    STEP_CHANGES: [2, 5],
    STEP_SMALL: [2, 3],
  },
  'src/ledger/output-list/fill-index.ts': { STEP_OUTPUTS: [3, 20] },
  'src/modules/histories/carry-past.ts': { BURNS_AT_ONCE: [1, 5] },
  'src/modules/histories/nft-changes.ts': { MAX_CHANGES: [5, 20] },
  'src/ledger/packs/referenced-blocks.ts': { PACKS_AT_ONCE: [1, 2] },
  'src/ledger/read/milestone-contents.ts': { PACKS_AT_ONCE: [1, 3] },
  'src/ledger/read/ledger-state-hash.ts': { PAGE: [5, 50] },
  'src/ledger/import/staged-ledger.ts': { STRETCH: [10, 50] },
  'src/stardust/snapshot/snapshot-sink.ts': { BATCH_SIZE: [7, 40] },
  'src/nft-index/recent-changes.ts': { MAX_STATES: [3, 10], MAX_WINDOW_CHANGES: [20, 60] },
  'src/follower/follower.ts': {
    'PUBLISH_BUDGET.operations': [5, 12],
    'PUBLISH_BUDGET.statements': [20, 30],
  },
  'src/nft-index/publish.ts': { MAX_WAITING: [10, 40] },
  'src/nft-index/put-entries.ts': { PAGE_SIZE: [2, 8] },
  'src/nft-index/publisher-state.ts': { MAX_DUE: [3, 10], MAX_MARKS: [10, 14] },
  'src/nft-index/cached-reads.ts': { MAX_ENTRIES: [2, 10] },
  'src/http/read-cache.ts': { MAX_BYTES: [5000, 50_000] },
  'src/modules/feed/feed-connection.ts': { MOST_PACKETS: [900, 900] },
  'src/modules/events/announcer.ts': { MAX_CALL_BYTES: [1000, 5000] },
  'src/modules/events/initial-events.ts': { OUTPUTS_AT_ONCE: [1, 3] },
  'src/modules/events/milestone-events.ts': { MAX_HELD: [1, 10_000] },
  'src/modules/events/session.ts': { SLICE_PACKETS: [1, 3] },
  'src/modules/events/clients.ts': { SENDS_AT_ONCE: [1, 3] },
  'src/modules/final/read-statement.ts': { MAX_OUTPUTS: [2, 5], PROVED_AT_ONCE: [1, 8] },
  'src/modules/proofs/explain-white-flag.ts': { FAULT_BYTES_AT_ONCE: [84_000, 336_000] },
};

/** By file, what must stay a power of two, and by what it is divided. */
const SCALED: Values = {
  'src/ledger/core/id-map.ts': { FIRST_PLACES: [256, 64] },
  'src/node/compute-white-flag.ts': { LEAVES_AT_ONCE: [256, 64] },
};

/** Whether steps and pages are smaller than usual, some or all of them. */
export const isSmall = (limits: Limits): boolean => limits !== 'usual' && limits !== 'brief';

/** Blocks that no milestone references, beyond which none is stored that no milestone needs. */
export function unreferencedBlocks(limits: Limits): number {
  if (!isSmall(limits)) return 100_000;
  return limits === 'tiny' ? 80 : 150;
}

/**
 * Statements of an object until it is called again: those of D1. Where steps are tiny the same work
 * takes more (1,508 were seen), and most where others are not (4,081).
 */
export function statementsOfObject(limits: Limits): number {
  if (limits === 'tiny') return 3000;
  if (limits === 'small') return 1500;
  return isSmall(limits) ? 6000 : 1000;
}

/** What a pack has at most. */
export const limitsOfPack = (limits: Limits): Record<'blocks' | 'characters', number> => ({
  blocks: sizeOf(limits, 'src/ledger/packs/pack-columns.ts', 'MAX_PACK_BLOCKS', 256),
  characters: sizeOf(limits, 'src/ledger/packs/pack-columns.ts', 'MAX_PACK_LENGTH', 800_000),
});

/** Blocks of a milestone that wait to be told in order; with more of them the order is given up. */
export const heldBlocks = (limits: Limits): number =>
  sizeOf(limits, 'src/modules/events/milestone-events.ts', 'MAX_HELD', 10_000);

/** Bytes of heap that a walk may fetch whatever others hold: usually more than any story's blocks. */
export const leastFetched = (limits: Limits): number =>
  sizeOf(limits, 'src/follower/store/gather-blocks.ts', 'MIN_FETCHED_HEAP_BYTES', 2_000_000);

/** Operations on KV that the publisher of the NFT index may take each time. */
export const budgetOfIndex = (limits: Limits): number =>
  sizeOf(limits, 'src/follower/follower.ts', 'PUBLISH_BUDGET.operations', 300);

/** Moments that the publisher of the NFT index remembers. */
export const marksOfIndex = (limits: Limits): number =>
  sizeOf(limits, 'src/nft-index/publisher-state.ts', 'MAX_MARKS', 100);

/** In which an entry is put after it was read, milliseconds. */
export const putWithin = (limits: Limits): number => (limits === 'usual' ? 60_000 : 2000);

function sizeOf(limits: Limits, file: string, name: string, usual: number): number {
  if (!isSmall(limits)) return usual;
  const whole = limits === 'tiny' ? 0 : 1;
  const choice = limits.startsWith('mixed') ? choose(limits, file, name) : whole;
  return choice === undefined ? usual : SIZES[file]![name]![choice];
}

const choose = (limits: Limits, file: string, name: string) =>
  new Random(`${limits} ${file} ${name}`).pick([0, 1, undefined] as const);

/** The source of a file with these limits. */
export function withLimits(limits: Limits, file: string, source: string): string {
  if (limits === 'usual') return source;
  const isMixed = limits.startsWith('mixed');
  const whole = limits === 'tiny' ? 0 : 1;
  let changed = source;
  const change = (values: Values, choose: (name: string) => number | undefined) => {
    for (const [name, each] of Object.entries(values[file] ?? {})) {
      const choice = choose(name);
      if (choice !== undefined) changed = withConstant(changed, name, each[choice]!, file);
    }
  };
  change(TIMES, () => whole);
  if (limits === 'brief') return changed;
  change(BOUNDS, () => whole);
  change(SIZES, (name) => (isMixed ? choose(limits, file, name) : whole));
  for (const [name, divisors] of Object.entries(SCALED[file] ?? {}))
    changed = withConstant(changed, name, (usual) => Math.floor(usual / divisors[whole]!), file);
  return changed;
}

function withConstant(
  source: string,
  name: string,
  value: number | ((usual: number) => number),
  path: string,
): string {
  const [constant, field] = name.split('.');
  const before =
    field === undefined
      ? `const ${constant}(?:: \\w+)? = `
      : `const ${constant}\\b[^]*?\\b${field}: `;
  const number = new RegExp(`(${before})[\\d_]+`);
  if (!number.test(source)) throw new Error(`${path} has no number ${name}`);
  return source.replace(number, (all: string, begin: string) => {
    const usual = Number(all.slice(begin.length).replaceAll('_', ''));
    return `${begin}${typeof value === 'number' ? value : value(usual)}`;
  });
}
