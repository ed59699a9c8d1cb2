/**
 * Between milestones: the blocks near the tips are stored, so that a coordinator's question about them finds them in D1 (design §5).
 *
 * They are open, and a proposal may reach them at once. So each is asked about upstream first: one that a milestone of ours references already, though we do
 * not know it, would look open to every later request (design §3, the trap). Such a block, and every block upon it, is left out.
 */

import type { AdmissionRules } from '../ledger/admission-rules.ts';
import { ConeUnavailable } from '../ledger/block-source.ts';
import type { Database } from '../ledger/database.ts';
import { runFenced } from '../ledger/fence.ts';
import type { Head } from '../ledger/head.ts';
import { type KnownBlock, lookUpBlocks, lookUpOutputs } from '../ledger/known-rows.ts';
import { mentionedOutputIds, prepareBlocks } from '../ledger/prepare-blocks.ts';
import { createdOutputIds, settleWaiting, storeStatements } from '../ledger/store-blocks.ts';
import { admissionFault } from '../stardust/admission.ts';
import type { ParsedBlock } from '../stardust/block.ts';
import { toHexDigits } from '../stardust/bytes.ts';
import { isMilestoneBlock } from '../stardust/milestone-keys.ts';
import type { BlockCache } from '../upstream/block-cache.ts';
import { fetchBlock } from '../upstream/fetch-blocks.ts';
import { type Upstream, UpstreamFailure } from '../upstream/upstream.ts';

/** Blocks fetched in one go, and blocks stored; more are left to the next. */
const MAX_FETCHED = 300;
const MAX_STORED = 2000;

/** Milliseconds after which nothing more is fetched, as milestones wait meanwhile. */
const FETCH_TIME = 4000;

/** The most open blocks that are kept (design §3). */
const MAX_OPEN_BLOCKS = 100_000;

const COUNT_OPEN = 'SELECT count(*) AS open FROM block WHERE milestone IS NULL';

/**
 * How many blocks were stored.
 *
 * @param upstream one that has confirmed the ledger's milestone: one that is behind does not know yet of all blocks that are referenced
 * @param open of the ledger and its index: blocks that earlier passes found to be open and could not store
 * @param fetched takes the blocks, for the milestone that will reference them
 */
export async function storeTips(
  db: Database,
  upstream: Upstream,
  head: Head,
  rules: AdmissionRules,
  open: BlockCache,
  fetched: BlockCache,
): Promise<number> {
  const { known, blocks } = await gatherFromTips(db, upstream, head.ledger, open, fetched);
  const fresh = await storableBlocks(blocks, known, (block) =>
    isSettled(block, head.ledger, rules),
  );
  if (fresh.length === 0) return 0;
  const stored = Number((await db.prepare(COUNT_OPEN).first())?.open);
  if (stored + fresh.length > MAX_OPEN_BLOCKS)
    throw new Error(`${stored} blocks that no milestone references: no more are stored`);

  const rows = { ...(await lookUpOutputs(db, mentionedOutputIds(fresh))), blocks: known };
  const recorded = await prepareBlocks(fresh, rows, rules);
  await runFenced(db, storeStatements(db, recorded, head.generation));
  await settleWaiting(db, head.generation, createdOutputIds(recorded), rules.verify);
  for (const { id } of recorded) {
    fetched.delete(id);
    open.delete(id);
  }
  return recorded.length;
}

/** From the tips down to blocks that D1 knows, as far as may be fetched: what is remembered is walked through for nothing. */
async function gatherFromTips(
  db: Database,
  upstream: Upstream,
  ledger: number,
  open: BlockCache,
  fetched: BlockCache,
): Promise<{ known: Map<string, KnownBlock>; blocks: Map<string, ParsedBlock> }> {
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
  while (missing.length > 0 && left > 0 && Date.now() < deadline) {
    for (const [id, block] of await lookUpBlocks(db, missing)) known.set(id, block);
    const unknown = missing.filter((id) => !known.has(id)).slice(0, left);
    left -= unknown.length;
    const isOpen = await Promise.all(
      unknown.map((id) => fetchOpen(upstream, id, ledger, open, fetched)),
    );
    missing = walk(unknown.filter((_, i) => isOpen[i]));
  }
  // some of what was remembered has been stored since
  for (const [id, block] of await lookUpBlocks(db, [...blocks.keys()])) {
    known.set(id, block);
    open.delete(id);
  }
  return { known, blocks };
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
 * Whether the block would be recorded in the same way later (intake.ts): not if the keys or the parameters that we have may be what is missing. A milestone beyond
 * ours that they do not verify may be one whose keys are about to be configured, and a block that no parameters admit one of parameters about to be announced.
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

/** The first blocks all of whose parents are known or among those before them; without those that are not settled, and all upon them. */
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
