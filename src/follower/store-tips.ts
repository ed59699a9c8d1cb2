/**
 * Between milestones: the blocks near the tips are stored, so that a coordinator's question about
 * them finds them in D1.
 *
 * They are open, and a proposal may reach them at once. So each is asked about upstream first: one
 * that a milestone of ours references already, though we do not know it, would look open to every
 * later request (docs/architecture.md#the-trap). Such a block is left out with all its descendants.
 */
import type { AdmissionRules } from '../ledger/admission-rules.ts';
import { ConeUnavailable } from '../ledger/block-source.ts';
import { type ConsistentView, MAX_PACKS_TO_FOLLOW, readView } from '../ledger/consistent-view.ts';
import type { Database } from '../ledger/database.ts';
import { LedgerMoved, runFenced } from '../ledger/fence.ts';
import type { Head } from '../ledger/head.ts';
import { type KnownBlock, lookUpBlocks } from '../ledger/known-blocks.ts';
import { outputsToFind, prepareBlocks } from '../ledger/prepare-blocks.ts';
import { createdOutputIds, settleWaiting, storeStatements } from '../ledger/store-blocks.ts';
import { admissionFault } from '../stardust/admission.ts';
import type { ParsedBlock } from '../stardust/block.ts';
import { toHexDigits } from '../stardust/bytes.ts';
import { isMilestoneBlock } from '../stardust/milestone-keys.ts';
import type { BlockCache } from '../upstream/block-cache.ts';
import { fetchBlock } from '../upstream/fetch-blocks.ts';
import { type Upstream, UpstreamFailure } from '../upstream/upstream.ts';
import type { Exclusively } from './exclusively.ts';

/** Blocks fetched in one go, and blocks stored; more are left to the next. */
const MAX_FETCHED = 300;
const MAX_STORED = 2000;

/** Milliseconds after which nothing more is fetched, as milestones wait meanwhile. */
const FETCH_TIME = 4000;

/** The most open blocks that are kept. */
const MAX_OPEN_BLOCKS = 100_000;

export interface StoreTools {
  /**
   * It has confirmed the ledger's milestone. An upstream that is behind does not know yet of all
   * blocks that are referenced.
   */
  upstream: Upstream;
  rules: AdmissionRules;
  /**
   * Of the ledger and its index: blocks that earlier passes found to be open and could not store.
   */
  open: BlockCache;
  /** Takes the blocks, for the milestone that will reference them. */
  fetched: BlockCache;
  /** Whatever is read and then written is done in it, not what is fetched. */
  exclusively: Exclusively;
}

/** How many blocks were stored. */
export async function storeTips(db: Database, head: Head, tools: StoreTools): Promise<number> {
  const blocks = await gatherFromTips(db, head, tools);
  if (blocks.size === 0) return 0;
  const stored = await tools.exclusively(() => storeOpen(db, head, blocks, tools));
  for (const id of stored) {
    tools.fetched.delete(id);
    tools.open.delete(id);
  }
  return stored.length;
}

/** Stores those of the blocks that can be, and returns their hex IDs. */
async function storeOpen(
  db: Database,
  head: Head,
  blocks: ReadonlyMap<string, ParsedBlock>,
  { rules, open }: StoreTools,
): Promise<string[]> {
  const parents = [...blocks.values()].flatMap(({ block }) => block.parents.map(toHexDigits));
  const outputs = outputsToFind([...blocks.values()]);
  const view = await viewNext(db, head, [...new Set([...blocks.keys(), ...parents])], outputs);
  // some of what was remembered has been stored since
  for (const id of blocks.keys()) if (view.named.has(id)) open.delete(id);
  const fresh = await storableBlocks(blocks, view.named, (block) =>
    isSettled(block, head.ledger, rules),
  );
  if (fresh.length === 0) return [];
  const { size } = view.cone;
  if (size + fresh.length > MAX_OPEN_BLOCKS)
    throw new Error(`${size} blocks that no milestone references: no more are stored`);

  const numbering = { ...view.numbering, blocks: new Map(view.named) };
  const prepared = await prepareBlocks(fresh, numbering, rules);
  await runFenced(db, storeStatements(db, view, prepared, numbering));
  await settleWaiting(db, head.generation, createdOutputIds(prepared), rules.verify);
  return prepared.map(({ id }) => id);
}

/**
 * All open blocks. A milestone may have been applied since the pass began: what was open then is
 * open still, or known by now. Throws a LedgerMoved where an import replaced the ledger.
 */
async function viewNext(
  db: Database,
  { generation, ledger }: Head,
  named: readonly string[],
  outputs = outputsToFind([]),
): Promise<ConsistentView> {
  for (let index = ledger + 1; ; ) {
    const request = { index, named, outputs, maxPacks: MAX_PACKS_TO_FOLLOW };
    const view = await readView(db, request);
    if (view?.head.generation !== generation) throw new LedgerMoved('the ledger was replaced');
    if (view.head.ledger + 1 === index) return view;
    index = view.head.ledger + 1;
  }
}

/**
 * Open blocks from the tips down to what D1 knows, as far as may be fetched: what is remembered is
 * walked through for nothing.
 */
async function gatherFromTips(
  db: Database,
  head: Head,
  { upstream, open, fetched }: StoreTools,
): Promise<Map<string, ParsedBlock>> {
  const known = new Map<string, KnownBlock>();
  const blocks = new Map<string, ParsedBlock>();
  /** Blocks from these down that are neither known nor remembered. */
  const walk = (ids: readonly string[]): string[] => {
    const missing = new Set<string>();
    const stack = ids.toReversed();
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      if (blocks.has(id) || known.has(id)) continue;
      const block = open.get(id);
      if (block === undefined) {
        missing.add(id);
      } else {
        blocks.set(id, block);
        stack.push(...block.block.parents.map(toHexDigits));
      }
    }
    return [...missing];
  };
  let left = MAX_FETCHED;
  const deadline = Date.now() + FETCH_TIME;
  let missing = walk(await upstream.readTips());
  const { cone } = await viewNext(db, head, []);
  while (missing.length > 0 && left > 0 && Date.now() < deadline) {
    for (const [id, block] of await lookUpBlocks(db, cone, missing)) known.set(id, block);
    const unknown = missing.filter((id) => !known.has(id)).slice(0, left);
    left -= unknown.length;
    const isOpen = await Promise.all(
      unknown.map((id) => fetchOpen(upstream, id, head.ledger, open, fetched)),
    );
    missing = walk(unknown.filter((_, i) => isOpen[i]));
  }
  return blocks;
}

/** Whether the block is to be had and no applied milestone references it: then it is remembered. */
async function fetchOpen(
  upstream: Upstream,
  id: string,
  ledger: number,
  open: BlockCache,
  fetched: BlockCache,
): Promise<boolean> {
  try {
    const [block, reference] = await Promise.all([
      fetched.get(id) ?? fetchBlock([upstream], id),
      upstream.readReference(id),
    ]);
    fetched.set(id, block);
    if (reference === undefined || (reference !== null && reference <= ledger)) return false;
    open.set(id, block);
    return true;
  } catch (error) {
    if (error instanceof ConeUnavailable || error instanceof UpstreamFailure) return false;
    throw error;
  }
}

/**
 * Whether the block's record would be the same later (prepare-blocks.ts). It would not if keys or
 * parameters that we lack decide. A milestone beyond ours that our keys do not verify may be one
 * whose keys are about to be configured. A block that no parameters admit may be one of parameters
 * about to be announced.
 */
async function isSettled(
  parsed: ParsedBlock,
  ledger: number,
  { keys, verify, parameters }: AdmissionRules,
): Promise<boolean> {
  const { milestone } = parsed;
  if (
    milestone !== undefined &&
    milestone.value.index > ledger &&
    !(await isMilestoneBlock(parsed, keys, verify))
  )
    return false;
  return parameters.some((each) => admissionFault(parsed, each) === undefined);
}

/**
 * The first blocks all of whose parents are known or among those before them. Blocks that are not
 * settled are left out, with their descendants.
 */
async function storableBlocks(
  blocks: ReadonlyMap<string, ParsedBlock>,
  known: ReadonlyMap<string, KnownBlock>,
  settled: (block: ParsedBlock) => Promise<boolean>,
): Promise<ParsedBlock[]> {
  const ordered: ParsedBlock[] = [];
  /** Whether it is among the ordered. */
  const done = new Map<string, boolean>();
  const isOpen = (id: string) => blocks.has(id) && !known.has(id) && !done.has(id);
  const stack = [...blocks.keys()];
  while (stack.length > 0 && ordered.length < MAX_STORED) {
    const id = stack.at(-1)!;
    if (!isOpen(id)) {
      stack.pop();
      continue;
    }
    const block = blocks.get(id)!;
    const parents = block.block.parents.map(toHexDigits);
    const before = parents.filter(isOpen);
    if (before.length > 0) {
      stack.push(...before);
      continue;
    }
    const storable =
      parents.every((parent) => known.has(parent) || done.get(parent)) && (await settled(block));
    done.set(id, storable);
    if (storable) ordered.push(block);
  }
  return ordered;
}
