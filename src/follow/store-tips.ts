/**
 * Between milestones: the blocks near the tips are stored, so that a coordinator's question about them finds them in D1 (design §5).
 *
 * They are open, and a proposal may reach them at once. So each is asked about upstream first: one that a milestone of ours references already, though we do
 * not know it, would look open to every later request (design §3, the trap). Such a block, and every block upon it, is left out.
 */

import { runFenced } from '../ledger/fence.ts';
import { UnknownBlock } from '../ledger/gather.ts';
import type { Head } from '../ledger/head.ts';
import { type IntakeRules, mentionedOutputIds, recordBlocks } from '../ledger/intake.ts';
import { lookUpBlocks, lookUpOutputs } from '../ledger/lookup.ts';
import type { Database } from '../ledger/rows.ts';
import { createdOutputIds, settleWaiting, storeStatements } from '../ledger/store.ts';
import type { KnownBlock } from '../ledger/view.ts';
import type { ParsedBlock } from '../stardust/block.ts';
import { toHexDigits } from '../stardust/bytes.ts';
import { fetchBlock } from './fetch-blocks.ts';
import { type Upstream, UpstreamFailure } from './upstream.ts';

/** Blocks stored in one go; more are left to the next. */
const MAX_BLOCKS = 300;

/** The most open blocks that are kept (design §3). */
const MAX_OPEN_BLOCKS = 100_000;

const COUNT_OPEN = 'SELECT count(*) AS open FROM block WHERE milestone IS NULL';

/**
 * How many blocks were stored.
 *
 * @param upstream one that has confirmed the ledger's milestone: one that is behind does not know yet of all blocks that are referenced
 */
export async function storeTips(
  db: Database,
  upstream: Upstream,
  head: Head,
  rules: IntakeRules,
  fetched: Map<string, ParsedBlock>,
): Promise<number> {
  const { known, blocks } = await fetchFromTips(db, upstream, head.ledger, fetched);
  const fresh = solidFirst(blocks, known);
  if (fresh.length === 0) return 0;
  const open = Number((await db.prepare(COUNT_OPEN).first())?.open);
  if (open + fresh.length > MAX_OPEN_BLOCKS)
    throw new Error(`${open} blocks that no milestone references: no more are stored`);

  const rows = { ...(await lookUpOutputs(db, mentionedOutputIds(fresh))), blocks: known };
  const recorded = await recordBlocks(fresh, rows, rules);
  await runFenced(db, storeStatements(db, recorded, head.generation));
  await settleWaiting(db, head.generation, createdOutputIds(recorded), rules.verify);
  for (const { id } of recorded) fetched.delete(id);
  return recorded.length;
}

/** From the tips down to blocks that D1 knows. */
async function fetchFromTips(
  db: Database,
  upstream: Upstream,
  ledger: number,
  fetched: Map<string, ParsedBlock>,
): Promise<{ known: Map<string, KnownBlock>; blocks: Map<string, ParsedBlock> }> {
  const known = new Map<string, KnownBlock>();
  const blocks = new Map<string, ParsedBlock>();
  let level = await upstream.readTips();
  while (level.length > 0 && blocks.size < MAX_BLOCKS) {
    for (const [id, block] of await lookUpBlocks(db, level)) known.set(id, block);
    const unknown = level.filter((id) => !known.has(id) && !blocks.has(id)).slice(0, MAX_BLOCKS - blocks.size);
    const parents = new Set<string>();
    for (const block of await Promise.all(unknown.map((id) => fetchOpen(upstream, id, ledger, fetched)))) {
      if (block === undefined) continue;
      blocks.set(toHexDigits(block.id), block);
      for (const parent of block.block.parents) parents.add(toHexDigits(parent));
    }
    level = [...parents].filter((id) => !known.has(id) && !blocks.has(id));
  }
  return { known, blocks };
}

/** The block, unless it is not to be had or an applied milestone references it. */
async function fetchOpen(
  upstream: Upstream,
  id: string,
  ledger: number,
  fetched: Map<string, ParsedBlock>,
): Promise<ParsedBlock | undefined> {
  try {
    const block = fetched.get(id) ?? (await fetchBlock([upstream], id));
    fetched.set(id, block);
    const reference = await upstream.readReference(id);
    return reference === null || (reference !== undefined && reference > ledger) ? block : undefined;
  } catch (error) {
    if (error instanceof UnknownBlock || error instanceof UpstreamFailure) return undefined;
    throw error;
  }
}

/** Blocks all of whose parents are known or among those before them. */
function solidFirst(blocks: ReadonlyMap<string, ParsedBlock>, known: ReadonlyMap<string, KnownBlock>): ParsedBlock[] {
  const solid = new Set(known.keys());
  const ordered: ParsedBlock[] = [];
  let waiting = [...blocks];
  for (let before = -1; before !== ordered.length; ) {
    before = ordered.length;
    waiting = waiting.filter(([id, block]) => {
      if (!block.block.parents.every((parent) => solid.has(toHexDigits(parent)))) return true;
      solid.add(id);
      ordered.push(block);
      return false;
    });
  }
  return ordered;
}
