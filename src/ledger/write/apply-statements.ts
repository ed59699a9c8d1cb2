/**
 * Applies a verified milestone: all its changes, in one batch behind a fence
 * (docs/storage.md#applying-a-milestone; docs/protocol.md, E.5). Its blocks stay in their packs,
 * which note the reference; a row of its own has their order and what they spend. Outputs come and
 * go, NFTs follow, and the head moves. The batch fails as a whole if the ledger or the unreferenced
 * blocks are not those that the milestone was verified on, or if anything is missing.
 */
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import { inputsAt } from '../../stardust/white-flag/cone.ts';
import type { WhiteFlag } from '../../stardust/white-flag/walk.ts';
import { announcedParameters, type Milestone } from '../../stardust/wire/milestone.ts';
import { treasuryAfter } from '../../stardust/wire/receipt.ts';
import type { Database } from '../core/database.ts';
import { keepsIndex } from '../core/head.ts';
import { entrySum, idTableName, milestoneEntry } from '../core/id-index.ts';
import { insertParameters } from '../core/ledger-parameters.ts';
import { writeOutputBytes } from '../core/output-bytes.ts';
import { moveFingerprints, rowSum } from '../core/row-sum.ts';
import { insertMilestone, insertReceipt, moveHead } from '../core/write-head.ts';
import { PARTS, writeNumbers } from '../packs/milestone-part.ts';
import { requireSameUnreferenced } from '../packs/next-numbers.ts';
import {
  type BlockStatus,
  readStateMap,
  splitIntoParts,
  writeStates,
  writeStatuses,
} from '../packs/pack-columns.ts';
import {
  countVisible,
  type LeftBlocks,
  leftBlocks,
  packsOf,
  placesOf,
} from '../packs/viewed-packs.ts';
import { type ChangedPack, deleteStaged, updatePacks } from '../packs/write-pack.ts';
import type { ConsistentView } from '../view/consistent-view.ts';
import { listChanges, type MilestoneChanges, type VerifiedMilestone } from './milestone-changes.ts';
import {
  changeOutputs,
  readChanges,
  rowsAsJson,
  SPENT_ROWS,
  selectSpentJson,
} from './output-changes.ts';
import { insertIds, moveByBlocks } from './write-ids.ts';

/**
 * Makes the statements that apply the milestone, as one batch; undefined if a pack has its blocks
 * beside blocks that were staged for another one with its index. Those must be dropped first:
 * requests would see them, unproven. Throws a LedgerDamaged if what the view names is missing.
 *
 * @param view of the ledger's next milestone, with the blocks that were staged for it
 * @param whiteFlag the outcome of the walk over the view's cone, with all verdicts
 */
export async function applyStatements(
  db: Database,
  verified: VerifiedMilestone,
  view: ConsistentView,
  whiteFlag: WhiteFlag,
): Promise<{ statements: D1PreparedStatement[]; left: LeftBlocks } | undefined> {
  const { milestone, id, payload } = verified;
  const { index, timestamp } = milestone;
  const { head, next, previous } = view;
  const changes = await listChanges(db, verified, view, whiteFlag);
  if (isStagedForAnother(view, changes)) return undefined;
  const own = { index, id: toHexDigits(id) };
  const fingerprints = moveFingerprints(head.integrity);
  const idTable = idTableName(head.idTables.at(-1)!);
  // in the order of the packs
  const places = () => placesOf(view.packs, changes.order.toSorted());
  const [read] = await Promise.all([
    readChanges(db, milestone, changes, fingerprints, idTable),
    moveByBlocks(db, fingerprints, idTable, 'referenced', index, places()),
  ]);
  const entry = milestoneEntry(own.id);
  fingerprints.move(idTable, entry, entrySum(entry, index));
  const treasury = treasuryAfter(milestone, id);
  const announced = announcedParameters(milestone);
  const kept = [
    ...(announced ? [insertParameters(db, fingerprints, announced)] : []),
    ...insertReceipt(db, fingerprints, milestone),
  ];
  const statements = [
    requireSameUnreferenced(db, head, view.stored),
    moveHead(db, head, {
      ledger: index,
      ...(treasury && {
        treasury: { milestoneId: toHexDigits(treasury.milestoneId), amount: treasury.amount },
      }),
      nextBlock: next.nextBlock,
      nextOutput: next.nextOutput,
      unreferenced: countVisible(view, (position) => changes.reasons[position] !== 0),
      integrity: {
        ...fingerprints.moved(),
        ...(head.integrity.smallAt === head.ledger && { smallAt: index }),
      },
    }),
    insertMilestone(db, {
      ...own,
      timestamp,
      blocks: changes.order.length,
      payload: writeOutputBytes(payload),
      nftChanges: previous!.nftChanges + read.nfts.size,
    }),
    ...insertParts(db, milestone, view, changes),
    ...insertIds(db, idTable, own, places()),
    ...changeOutputs(db, milestone, changes, read, keepsIndex(head)),
    ...updatePacks(db, index, changedPacks(index, view, changes)),
    deleteStaged(db, index),
    ...kept,
  ];
  const left = leftBlocks(view, (position) => changes.reasons[position] !== 0);
  return { statements, left };
}

/** Whether a staged pack has blocks that the milestone references, and others. */
function isStagedForAnother({ packs }: ConsistentView, { reasons }: MilestoneChanges): boolean {
  return packs.some(({ isStaged, first, statuses: { size } }) => {
    const isReferenced = reasons.subarray(first, first + size);
    return isStaged && isReferenced.includes(0) && isReferenced.some((reason) => reason !== 0);
  });
}

/** Blocks of a part: their numbers take 600 KB. */
const MAX_PART_BLOCKS = 64_000;

/** Spent outputs of a part: whoever reads a part with their contents reads up to 4 MB. */
const MAX_PART_SPENT = 128;

/** Parts of one statement: their spent outputs may be in as many packs. */
const PARTS_AT_ONCE = 16;

/** ?4 parts: key, packs, blocks, sum. Each has the next of the outputs ?1. */
const INSERT_PARTS = `
  INSERT INTO milestone_part (key, packs, blocks, sum, spent)
  WITH ${SPENT_ROWS}
  SELECT j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3,
    ${selectSpentJson(`s.n / ${MAX_PART_SPENT} = j.key`)}
  FROM json_each(?4) j`;

function insertParts(
  db: Database,
  { index, timestamp }: Milestone,
  { cone, packs }: ConsistentView,
  { order, spent }: MilestoneChanges,
): D1PreparedStatement[] {
  const count = Math.ceil(Math.max(order.length / MAX_PART_BLOCKS, spent.length / MAX_PART_SPENT));
  if (count > PARTS) throw new Error(`milestone ${index} is too large for ${PARTS} parts`);
  const parts = Array.from({ length: count }, (_, part) => {
    const positions = order.subarray(part * MAX_PART_BLOCKS, (part + 1) * MAX_PART_BLOCKS);
    const numbers = Array.from(positions, (position) => cone.numberAt(position));
    const keys = packsOf(packs, positions);
    const cells = [index * PARTS + part, JSON.stringify(keys), writeNumbers(numbers)];
    return [...cells, rowSum(cells)];
  });
  let first = 0;
  const limits = { most: PARTS_AT_ONCE };
  return splitIntoParts(parts, (cells) => JSON.stringify(cells).length, limits).map((some) => {
    const to = Math.min(first + some.length * MAX_PART_SPENT, spent.length);
    const spentHere = rowsAsJson(spent, first, to);
    first = to;
    return db.prepare(INSERT_PARTS).bind(spentHere, index, timestamp, JSON.stringify(some));
  });
}

/** Packs with blocks that the milestone references, or that consume what it creates or spends. */
function changedPacks(
  index: number,
  { cone, packs }: ConsistentView,
  { reasons, changed }: MilestoneChanges,
): ChangedPack[] {
  return packs.flatMap((pack): ChangedPack[] => {
    const { first, statuses, states, isStaged } = pack;
    let isReferenced = false;
    let isLive = false;
    const consumed = new Set<number>();
    const after = Array.from({ length: statuses.size }, (_, at): BlockStatus => {
      const before = statuses.at(at);
      const reason = reasons[first + at]!;
      if (reason !== 0) {
        isReferenced = true;
        return { milestone: index, storedAt: 0, reason: reason - 1 };
      }
      if (before.milestone === 0) {
        isLive = true;
        for (const input of inputsAt(cone, first + at)) consumed.add(input);
      }
      return before;
    });
    const isChanged = [...consumed].some(
      (output) => changed.created.has(output) || changed.spent.has(output),
    );
    if (!isReferenced && (isStaged || !isChanged)) return [];
    return [
      {
        pack,
        isLive,
        isReferenced,
        statuses: writeStatuses(after),
        ...(isChanged && { states: statesAfter(index, states, consumed, changed) }),
      },
    ];
  });
}

/** Returns the outputs' states behind the milestone, those that `consumed` names among them. */
function statesAfter(
  index: number,
  before: Uint8Array,
  consumed: ReadonlySet<number>,
  { created, spent }: MilestoneChanges['changed'],
): Uint8Array {
  const states = readStateMap(before);
  for (const output of consumed) {
    const known = states.get(output);
    if (known === undefined && !created.has(output)) continue;
    const gone = spent.has(output) ? index : 0;
    states.set(output, { created: known?.created ?? index, spent: known?.spent || gone });
  }
  return writeStates(states);
}
