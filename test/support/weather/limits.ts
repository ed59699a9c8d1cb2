/**
 * The project's modules once more, with mistakes, or with small limits: packs of a few blocks, pages of a few packs,
 * a few blocks in a step. What takes thousands of blocks otherwise comes about in a run of sixty
 * steps. The limits are constants of the product, which nobody sets; so they are changed as the
 * source is loaded, and a constant that is not there any more is an error.
 */
import { registerHooks } from 'node:module';

/** By file, the value of each constant: as small as it may be, and some way above that. */
const LIMITS: Record<string, Record<string, readonly [tiny: number, small: number]>> = {
  'follower/complete-milestone.ts': { MAX_RESOLVING_STEPS: [3, 8] },
  'follower/bring/bring-blocks.ts': { MAX_LEVELS: [2, 6], RESOLVING_STEPS: [2, 5] },
  'follower/upkeep.ts': { RESOLVING_STEPS: [2, 5] },
  'follower/pushed/pushed-milestones.ts': { MAX_HELD: [3, 8], MAX_OF_INDEX: [2, 4] },
  'follower/pushed/store-pushed.ts': { MAX_TOPS: [2, 20] },
  'follower/store/gather-blocks.ts': {
    MAX_QUERIED: [4, 30],
    QUERIED_AT_ONCE: [2, 10],
    MAX_FETCHED_HEAP_BYTES: [30_000, 100_000],
    FETCHED_AT_ONCE: [2, 8],
  },
  'follower/store/store-gathered.ts': {
    MAX_STORED: [2, 20],
    MAX_STORED_HEAP_BYTES: [10_000, 50_000],
  },
  'follower/store/leave-out.ts': { QUERIED_AT_ONCE: [1, 5] },
  'follower/store/store-cone.ts': {
    MAX_LEVELS: [2, 6],
    PART_STEP: [1, 3],
    LEVELS_AT_ONCE: [12, 40],
    PARTS_AT_ONCE: [2, 6],
  },
  'follower/store/store-tips.ts': { MAX_FETCHED: [10, 40], MAX_LEVELS: [3, 10], MAX_CUT: [6, 20] },
  'ledger/core/database.ts': { MAX_TEXT: [200, 2000] },
  'ledger/packs/pack-columns.ts': { MAX_PACK_BLOCKS: [3, 60] },
  'ledger/packs/split-parts.ts': { MAX_PACK_LENGTH: [8000, 100_000] },
  'ledger/intake/walk-down.ts': { WALKED_AT_ONCE: [2, 10] },
  'ledger/packs/view-pages.ts': { PAGE: [1, 2] },
  'ledger/write/apply-statements.ts': { MAX_PART_BLOCKS: [2, 10] },
  'ledger/write/drop-blocks.ts': {
    ORPHAN_MARGIN_MILESTONES: [1, 2],
    MAX_STEP_PACKS: [1, 3],
    'UNREFERENCED_LIMITS.blocks': [80, 150],
    'UNREFERENCED_LIMITS.mentions': [1000, 2000],
  },
  'ledger/write/output-changes.ts': { NAMED_AT_ONCE: [2, 5], READ_AT_ONCE: [1, 2] },
  'ledger/write/prune.ts': { STEP: [2, 10], PACK_STEP: [1, 3], MAX_PACK_STEPS: [2, 5] },
  'ledger/packs/live-packs.ts': { WAITING_AT_ONCE: [1, 2], IDS_PAGE: [1, 3] },
  'ledger/write/resolve-verdicts.ts': { INPUTS_AT_ONCE: [2, 20] },
};

/** By file, each text that must be there once, and what takes its place. */
type Mutation = Record<string, readonly (readonly [from: string, to: string])[]>;

/**
 * Mistakes that the product once had, or would have without a part of it: runs must find them.
 */
const MUTATIONS = {
  'notes of outputs count that no block keeps true': {
    'ledger/packs/view-pages.ts': [['created >= index || !consumed.has(own)', 'created >= index']],
  },
  'no verdict is made later': {
    'ledger/write/resolve-verdicts.ts': [['if (chosen.length === 0)', 'if (chosen.length >= 0)']],
  },
  'blocks that an earlier milestone referenced stay': {
    'follower/store/leave-out.ts': [['head.start === head.genesis', 'head.start >= head.genesis']],
  },
  'milestones leave notes as they are': {
    'ledger/write/apply-statements.ts': [
      ['isChanged && { states: statesAfter(', 'index < 0 && { states: statesAfter('],
    ],
  },
  'each known parent proves its child unreferenced': {
    'ledger/intake/prove-unreferenced.ts': [
      ['milestone > forgotten && (milestone > start || start === genesis)', 'true'],
    ],
  },
  'a verdict that somebody else makes meanwhile counts as damaged': {
    'follower/complete-milestone.ts': [['made === 0 && isFruitless', 'made === 0']],
  },
} satisfies Record<string, Mutation>;

export type Mistake = keyof typeof MUTATIONS;

export const MISTAKES = Object.keys(MUTATIONS) as Mistake[];

const PROJECT = new URL('../../..', import.meta.url).href;

/** What `?limits=` in a module's address says; whatever the module imports has the same ones. */
const CHOICES = ['usual', 'tiny', 'small', 'tiny'] as const;

registerHooks({
  resolve(specifier, context, nextResolve) {
    const found = nextResolve(specifier, context);
    const limits = context.parentURL && new URL(context.parentURL).searchParams.get('limits');
    const isOurs = found.url.startsWith(PROJECT) && !found.url.includes('/node_modules/');
    return limits && isOurs
      ? { ...found, url: `${found.url.split('?')[0]}?limits=${encodeURIComponent(limits)}` }
      : found;
  },
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const { searchParams, href } = new URL(url);
    const [limitsName = '', mistakeName] = (searchParams.get('limits') ?? '').split(' but ');
    const choice = ['tiny', 'small'].indexOf(limitsName);
    const path = href.split('?')[0]!.slice(`${PROJECT}src/`.length);
    const limits = choice < 0 ? undefined : LIMITS[path];
    const mutation = MUTATIONS[mistakeName as Mistake] as Mutation | undefined;
    const changes = mutation?.[path] ?? [];
    if (limits === undefined && changes.length === 0) return loaded;
    let source = String(loaded.source);
    for (const [name, values] of Object.entries(limits ?? {}))
      source = withConstant(source, name, values[choice]!, path);
    for (const [from, to] of changes) {
      if (!source.includes(from)) throw new Error(`${path} has no ${from}`);
      source = source.replace(from, to);
    }
    return { ...loaded, source };
  },
});

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

/**
 * The runs of these seeds have limits that the seed chooses: a quarter of them the usual ones.
 *
 * @param mistake what is wrong in the product that they run
 */
export async function loadRuns(
  seed: number,
  mistake?: Mistake,
): Promise<typeof import('./run.ts')> {
  const limits = CHOICES[seed % CHOICES.length]!;
  const name = mistake === undefined ? limits : `${limits} but ${mistake}`;
  return import(`./run.ts?limits=${encodeURIComponent(name)}`);
}
