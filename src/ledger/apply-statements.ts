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
import type { ConsistentView, LoadedCone } from './consistent-view.ts';
import type { Database } from './database.ts';
import { insertIds, requireIdTables } from './id-index.ts';
import {
  isChanged,
  listChanges,
  type MilestoneChanges,
  type VerifiedMilestone,
} from './milestone-changes.ts';
import { type BlockOfMilestone, insertPack, splitIntoPacks } from './milestone-packs.ts';
import { FETCHED, noteFetched, type Place, readContents } from './open-contents.ts';
import {
  deleteOpenPacks,
  insertOpenPacks,
  type OpenBlock,
  requireOpenPacks,
} from './open-packs.ts';
import { changeOutputs, readOutputChanges, takenFromLedger } from './output-changes.ts';
import type { OutputState } from './packs.ts';
import { insertReceipt } from './receipts.ts';
import { packsToRewrite, readOpenPacks } from './rewrite-open.ts';
import { statesOf, toOpenBlock } from './store-blocks.ts';
import { lastOpenPack, placesOf } from './viewed-packs.ts';

/** The ledger moves on, if it still is where the milestone was verified: it must not be NULL. */
const MOVE_HEAD = `
  UPDATE head SET ledger = CASE WHEN ledger = ?1 - 1 THEN ?1 END,
    treasury_milestone = coalesce(?2, treasury_milestone),
    treasury_amount = coalesce(?3, treasury_amount), next_block = ?4, next_output = ?5`;

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
  const { view, numbering } = loaded;
  const { cone } = decided;
  const { head } = view;
  const changes = await listChanges(db, verified, decided, numbering);
  const isReferenced = new Set(changes.referenced.map(({ number }) => number));
  const rewrite = packsToRewrite(
    view,
    (block) => isReferenced.has(block),
    (output) => isChanged(changes, output),
  );
  const fetched = loaded.fetched.map((block) => toOpenBlock(block, head.ledger));
  const taken = takenFromLedger(changes);
  const known = await readContents(db, rewrite.keys, taken);
  noteFetched(known, fetched, new Set(taken));
  const blocks = blocksOfMilestone(changes, view, fetched);
  const byNumber = new Map(blocks.map((block) => [block.number, block]));
  const outputs = await readOutputChanges(db, milestone, changes, byNumber, { known, fetched });

  const states = new Map([...statesOf(numbering), ...known.states]);
  const stateOf = (output: number) => stateAfter(index, changes, output, states.get(output));
  const packs = splitIntoPacks(blocks, outputs.spent, { cone, known });
  const sources = { cone, known, fetched, stateOf };
  const next = { nextBlock: numbering.nextBlock, nextOutput: numbering.nextOutput };
  const stored = (await readOpenPacks(db, rewrite.left)).flatMap((pack) => pack.blocks);
  const left = [...stored, ...fetched].filter(({ number }) => !isReferenced.has(number));
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
    ...packs.map((pack, part) => insertPack(db, milestone, part, pack, sources)),
    ...insertIds(
      db,
      head.idTables,
      { index, id: toHexDigits(id) },
      packs.map((pack) => pack.blocks.map(({ number }) => number)),
    ),
    ...changeOutputs(db, milestone, outputs),
    ...leftOver,
    ...deleteOpenPacks(db, rewrite.keys),
    ...announceStatements(db, milestone),
    ...insertReceipt(db, milestone),
  ];
}

/** With the places where they stand, in white-flag order. */
function blocksOfMilestone(
  { referenced }: MilestoneChanges,
  view: ConsistentView,
  fetched: readonly OpenBlock[],
): BlockOfMilestone[] {
  const places = new Map<number, Place>();
  for (const [position, { pack, at }] of placesOf(view).entries())
    places.set(view.cone.numberAt(position), { pack: view.packs[pack]!.key, at });
  for (const [at, { number }] of fetched.entries()) places.set(number, { pack: FETCHED, at });
  return referenced.map((block) => ({ ...block, place: places.get(block.number)! }));
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
