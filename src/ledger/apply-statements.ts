/**
 * Applying a verified milestone: everything that it changes, in one batch behind a fence
 * (docs/storage.md#applying-a-milestone; docs/protocol.md, E.5).
 *
 * Its blocks move from the open packs into packs of its own, and what is left over is put together
 * anew; outputs come and go, NFTs follow, and the head moves. The batch fails as a whole when the
 * ledger or the open blocks are not those that the milestone was verified on, or when anything is
 * not there that it counts on.
 */
import { toBase64, toHexDigits } from '../stardust/bytes.ts';
import { encode } from '../stardust/codec.ts';
import {
  announcedParameters,
  type Milestone,
  protocolParametersOption,
} from '../stardust/milestone.ts';
import { treasuryAfter } from '../stardust/treasury.ts';
import type { Cone } from '../stardust/white-flag/cone.ts';
import type { WhiteFlag } from '../stardust/white-flag/walk.ts';
import type { LoadedCone } from './consistent-view.ts';
import type { Database } from './database.ts';
import { insertIds, requireIdTables } from './id-index.ts';
import {
  isChanged,
  listChanges,
  type MilestoneChanges,
  type VerifiedMilestone,
} from './milestone-changes.ts';
import { type BlockOfMilestone, insertPacks } from './milestone-packs.ts';
import {
  deleteOpenPacks,
  insertOpenPacks,
  type OpenBlock,
  type OpenPack,
  requireOpenPacks,
} from './open-packs.ts';
import { changeOutputs, readOutputChanges } from './output-changes.ts';
import type { OutputState } from './packs.ts';
import { insertReceipt } from './receipts.ts';
import { readPacksToRewrite } from './rewrite-open.ts';
import { statesOf, toOpenBlock } from './store-blocks.ts';
import { lastOpenPack } from './viewed-packs.ts';

/** The ledger moves on, if it still is where the milestone was verified: it must not be NULL. */
const MOVE_HEAD = `
  UPDATE head SET ledger = CASE WHEN ledger = ?1 - 1 THEN ?1 END,
    treasury_milestone = coalesce(?2, treasury_milestone),
    treasury_amount = coalesce(?3, treasury_amount), next_block = ?4, next_output = ?5,
    listed = CASE WHEN listed = ?1 - 1 THEN ?1 ELSE listed END`;

const INSERT_MILESTONE =
  'INSERT INTO milestone (idx, id, timestamp, payload) VALUES (?1, ?2, ?3, ?4)';

const ANNOUNCE_PARAMETERS = 'INSERT INTO parameters (target, bytes) VALUES (?1, ?2)';

/**
 * Statements that apply the milestone; run them as one batch. Throws a LedgerMoved where the ledger
 * is seen to have moved.
 *
 * @param loaded the cone as it was loaded, of the view of the ledger's next milestone
 * @param decided the cone with all verdicts that count, and the outcome of the walk over it
 */
export async function applyStatements(
  db: Database,
  verified: VerifiedMilestone,
  loaded: LoadedCone,
  decided: { cone: Cone; whiteFlag: WhiteFlag },
): Promise<D1PreparedStatement[]> {
  const { milestone, id, payload } = verified;
  const { index, timestamp } = milestone;
  const { view, fetched, numbering } = loaded;
  const { head } = view;
  const changes = await listChanges(db, verified, decided, numbering);
  const isReferenced = new Set(changes.referenced.map(({ number }) => number));
  const packs = await readPacksToRewrite(
    db,
    view,
    (block) => isReferenced.has(block),
    (output) => isChanged(changes, output),
  );
  const open = [
    ...packs.flatMap(({ blocks }) => blocks),
    ...fetched.map((block) => toOpenBlock(block, head.ledger)),
  ];
  const blocks = blocksOfMilestone(changes, open);
  const outputs = await readOutputChanges(db, milestone, changes, blocks);
  const states = mergeStates(packs, statesOf(numbering));
  const stateOf = (output: number) => stateAfter(index, changes, output, states.get(output));
  const next = { nextBlock: numbering.nextBlock, nextOutput: numbering.nextOutput };
  const left = open.filter(({ number }) => !isReferenced.has(number));
  const leftOver = insertOpenPacks(db, left, next, () => next.nextBlock++, stateOf);
  const treasury = treasuryAfter(milestone, id);
  const treasuryId = treasury ? toHexDigits(treasury.milestoneId) : null;
  const amount = treasury ? String(treasury.amount) : null;
  const moved = [index, treasuryId, amount, next.nextBlock, next.nextOutput];
  return [
    requireOpenPacks(db, head, lastOpenPack(view)),
    requireIdTables(db, head.idTables),
    db.prepare(MOVE_HEAD).bind(...moved),
    db.prepare(INSERT_MILESTONE).bind(index, toHexDigits(id), timestamp, toBase64(payload)),
    ...insertPacks(db, index, blocks, outputs.spent, stateOf),
    ...leftOver,
    ...deleteOpenPacks(
      db,
      packs.map(({ key }) => key),
    ),
    ...insertIds(
      db,
      head.idTables,
      { index, id: toHexDigits(id) },
      blocks.map((block) => [block.id, block.number] as const),
      outputs.spent.map((output) => output.id),
    ),
    ...changeOutputs(db, milestone, outputs),
    ...announceStatements(db, milestone),
    ...insertReceipt(db, milestone),
  ];
}

/** With the verdicts of the walk, in white-flag order. */
function blocksOfMilestone(
  { referenced }: MilestoneChanges,
  open: readonly OpenBlock[],
): BlockOfMilestone[] {
  const byNumber = new Map(open.map((block) => [block.number, block]));
  return referenced.map(({ number, record, reason }) => {
    return { ...byNumber.get(number)!, record, reason };
  });
}

function mergeStates(
  packs: readonly OpenPack[],
  fetched: ReadonlyMap<number, OutputState>,
): Map<number, OutputState> {
  const states = new Map(fetched);
  for (const pack of packs) for (const [output, state] of pack.states) states.set(output, state);
  return states;
}

/** What is known of an output when the milestone is applied. */
function stateAfter(
  index: number,
  { created, spent, migratedNumbers }: MilestoneChanges,
  output: number,
  before: OutputState | undefined,
): OutputState | undefined {
  const isNew = created.has(output) || migratedNumbers.has(output);
  if (before === undefined && !isNew) return undefined;
  const gone = spent.has(output) ? index : 0;
  return { created: before?.created ?? index, spent: before?.spent || gone };
}

function announceStatements(db: Database, milestone: Milestone): D1PreparedStatement[] {
  const announced = announcedParameters(milestone);
  if (announced === undefined) return [];
  const bytes = toBase64(encode(protocolParametersOption, announced));
  return [db.prepare(ANNOUNCE_PARAMETERS).bind(announced.targetMilestoneIndex, bytes)];
}
