/**
 * Gathering a cone: what D1 has of it, and, where it may be fetched, what it has not (design §3).
 *
 * Blocks that are fetched stay in memory; whoever wants them stored takes them from the result. As blocks may be stored and milestones applied while others
 * are being fetched, everything is read once more at the end, in one batch that also names every fetched block: no block can then stand in the cone twice.
 */
import type { ParsedBlock } from '../stardust/block.ts';
import { toHexDigits } from '../stardust/bytes.ts';
import { type Cone, readCone } from '../stardust/white-flag/block-record.ts';
import { computeWhiteFlag, LedgerState, type WhiteFlag } from '../stardust/white-flag/walk.ts';
import { type KnownBlock, readView, type View } from './consistent-view.ts';
import type { Database } from './database.ts';
import { lookUpBlocks, lookUpOutputs } from './known-rows.ts';
import {
  type IntakeRules,
  mentionedOutputIds,
  type RecordedBlock,
  type Rows,
  recordBlocks,
} from './prepare-blocks.ts';
import { completeStored } from './store-blocks.ts';

/** A block that upstream says a milestone before `index` references, though we do not know it: pruned here, or older than our snapshot (design §3, the trap). */
export class ReferencedBefore extends Error {}

/** A block that neither we nor upstream know. */
export class UnknownBlock extends Error {}

/** More blocks would have to be fetched than may be. */
export class BeyondBudget extends Error {}

export interface BlockSource {
  /** Fetches blocks by hex ID, all of them, parsed. Throws one of the errors above, or any other when upstream fails. */
  fetch(ids: readonly string[]): Promise<ParsedBlock[]>;
  /** A block that was fetched before and is not stored. */
  recall?(id: string): ParsedBlock | undefined;
}

export interface Gathered {
  view: View;
  cone: Cone;
  /** Rows of the proposal's parents, in their order. */
  parents: number[];
  /** Blocks that D1 does not have, parents first. */
  fetched: RecordedBlock[];
  /** The rows that they and their outputs were given. */
  rows: Rows | undefined;
}

/** A cone that cannot be had: a block is not known, it is more than can be walked at once, or an import replaced the ledger meanwhile. */
export type NotGathered = { missing: string } | 'too large' | 'ledger replaced';

/**
 * @param first the view that names the parents
 * @param index the milestone's index; blocks that earlier milestones reference stop the walk
 * @param parents hex IDs
 * @param source absent where nothing may be fetched: a block that D1 does not have is then `missing`
 * @param maxChunks of the view (view.ts)
 */
export async function gatherCone(
  db: Database,
  first: View,
  index: number,
  parents: readonly string[],
  rules: () => Promise<IntakeRules>,
  source?: BlockSource,
  maxChunks?: number,
): Promise<Gathered | NotGathered> {
  const unknown = parents.filter((id) => !first.named.has(id));
  if (unknown.length === 0) {
    const cone = readCone([first.records]);
    return {
      view: first,
      cone,
      parents: rowsOf(parents, first.named),
      fetched: [],
      rows: undefined,
    };
  }
  if (source === undefined) return { missing: unknown[0]! };

  const found = await fetchCone(db, unknown, first.named, source);
  const whole = await readView(
    db,
    index,
    [...new Set([...parents, ...found.known, ...found.blocks.keys()])],
    maxChunks,
  );
  if (whole === 'too large') return whole;
  if (whole?.head.generation !== first.head.generation) return 'ledger replaced';
  const fresh = parentsFirst(found.blocks, whole.named);
  const rows: Rows = {
    ...(await lookUpOutputs(db, mentionedOutputIds(fresh))),
    blocks: new Map(whole.named),
  };
  if (rows.generation !== first.head.generation) return 'ledger replaced';
  const fetched = await recordBlocks(fresh, rows, await rules());
  for (const { row, created, spent } of rows.outputs.values()) {
    if (created !== undefined && created < index) {
      whole.states.set(
        row,
        spent !== undefined && spent < index ? LedgerState.Spent : LedgerState.Unspent,
      );
    }
  }
  const cone = readCone([whole.records, ...fetched.map(({ record }) => record)]);
  return { view: whole, cone, parents: rowsOf(parents, rows.blocks), fetched, rows };
}

function rowsOf(ids: readonly string[], known: ReadonlyMap<string, KnownBlock>): number[] {
  return ids.map((id) => known.get(id)!.row);
}

/** Breadth first from the unknown blocks to the ones that D1 knows. */
async function fetchCone(
  db: Database,
  unknown: readonly string[],
  named: ReadonlyMap<string, KnownBlock>,
  source: BlockSource,
): Promise<{ blocks: Map<string, ParsedBlock>; known: Set<string> }> {
  const blocks = new Map<string, ParsedBlock>();
  const known = new Set(named.keys());
  let missing = unknown;
  while (missing.length > 0) {
    const asked = new Set<string>();
    const recent = await source.fetch(missing);
    // what was fetched before needs no lookup, however many levels deep
    for (let block = recent.pop(); block !== undefined; block = recent.pop()) {
      blocks.set(toHexDigits(block.id), block);
      for (const parent of block.block.parents.map(toHexDigits)) {
        if (blocks.has(parent) || known.has(parent) || asked.has(parent)) continue;
        const recalled = source.recall?.(parent);
        if (recalled === undefined) asked.add(parent);
        else recent.push(recalled);
      }
    }
    for (const id of (await lookUpBlocks(db, [...asked])).keys()) known.add(id);
    missing = [...asked].filter((id) => !known.has(id) && !blocks.has(id));
  }
  return { blocks, known };
}

/** The blocks that are not known after all, each behind its parents. */
function parentsFirst(
  blocks: ReadonlyMap<string, ParsedBlock>,
  known: ReadonlyMap<string, KnownBlock>,
): ParsedBlock[] {
  const ordered = new Map<string, ParsedBlock>();
  const entered = new Set<string>();
  const stack = [...blocks.keys()];
  while (stack.length > 0) {
    const id = stack.at(-1)!;
    const block = blocks.get(id);
    if (block === undefined || known.has(id) || ordered.has(id)) {
      stack.pop();
    } else if (entered.has(id)) {
      ordered.set(id, block);
      stack.pop();
    } else {
      entered.add(id);
      for (const parent of block.block.parents) stack.push(toHexDigits(parent));
    }
  }
  return [...ordered.values()];
}

/** Walks and judges a gathered cone. Verdicts that are open in the records are made now. */
export async function judgeGathered(
  db: Database,
  { view, cone, parents, rows }: Gathered,
  timestamp: number,
  previousMilestoneId: Uint8Array | undefined,
  rules: () => Promise<IntakeRules>,
): Promise<{ cone: Cone; whiteFlag: WhiteFlag }> {
  const proposal = { parents, timestamp, previousMilestoneId };
  const states = view.states;
  let whiteFlag = computeWhiteFlag(cone, states, proposal);
  if (whiteFlag.open.length === 0) return { cone, whiteFlag };

  const contents = new Map<string, Uint8Array>();
  for (const [id, { bytes }] of rows?.outputs ?? []) if (bytes) contents.set(id, bytes);
  let whole = cone;
  // a verdict made can put another transaction's inputs in reach, so this may take several rounds; each closes all that it found open
  while (whiteFlag.open.length > 0) {
    const open = whiteFlag.open.map((position) => whole.rowAt(position));
    const completed = await completeStored(
      db,
      view.head.generation,
      open,
      (await rules()).verify,
      contents,
    );
    if (completed.size < open.length)
      throw new Error(`no verdict on the transaction of a block of rows ${open.join()}`);
    whole = readCone([whole.bytes, ...completed.values()]);
    whiteFlag = computeWhiteFlag(whole, states, proposal);
  }
  return { cone: whole, whiteFlag };
}
