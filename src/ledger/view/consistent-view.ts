/**
 * The view of one white-flag request: everything that it may need, all of one moment.
 *
 * For milestone m the walk stops at blocks that milestones before m reference. A block is never
 * referenced later than its children. So if all parents are referenced by milestones up to k, the
 * walk can reach the blocks of the milestones m to k; if a parent is unreferenced, the blocks of
 * the milestones from m on and all unreferenced ones. The packs that hold those are read: for the
 * proposal of the next milestone the live packs, for the audit of a past one the packs of its
 * blocks.
 *
 * Mostly one batch reads all of it. Further batches read more packs than a page has, and the view
 * is still that of the first batch: packs are only appended to while the head is the same, and
 * blocks with numbers that were free then are left out.
 */
import type { ParameterTable } from '../../stardust/parameter-table.ts';
import { type Proposal, type WhiteFlag, walkCone } from '../../stardust/white-flag/walk.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { LedgerMoved } from '../core/fence.ts';
import {
  type Head,
  type HeadAt,
  isSameHead,
  type KnownMilestone,
  selectHead,
  selectHeadAt,
} from '../core/head.ts';
import { findReferenced, type KnownBlock, knownBlockFromRow, selectIds } from '../core/id-index.ts';
import { selectParameters } from '../core/ledger-parameters.ts';
import { many, type Row, readBatch } from '../core/read-batch.ts';
import { ConeUnavailable } from '../intake/block-source.ts';
import { type NextNumbers, nextNumbers, selectGiven } from '../packs/next-numbers.ts';
import type { NumberMap } from '../packs/number-map.ts';
import type { RecordCone } from '../packs/record-cone.ts';
import {
  createPackReader,
  MAX_CONE_BLOCKS,
  MAX_MENTIONS,
  MAX_SPAN,
  PAGE,
  PAGE_WITH_IDS,
  selectConePage,
} from '../packs/view-pages.ts';
import { countBlocks, findInCone, type ViewedPack } from '../packs/viewed-packs.ts';

export interface ConsistentView {
  head: Head;
  /** Milestone before the one asked for. */
  previous: KnownMilestone | undefined;
  /** Protocol parameters, pending ones too. */
  parameters: ParameterTable;
  /** The named blocks that are known, by ID. */
  named: ReadonlyMap<string, KnownBlock>;
  /** All blocks that the walk may meet; those that earlier milestones reference are excluded. */
  cone: RecordCone;
  /** The packs that hold the blocks of the cone, in the same order. */
  packs: readonly ViewedPack[];
  /** State before the milestone, by number, of every output that one of these blocks consumes. */
  states: NumberMap;
  /** The highest next_block of a live pack; null where none is live. */
  stored: number | null;
  /** How many unreferenced blocks are in the packs. */
  unreferenced: number;
  next: NextNumbers;
}

/** Views begun from which the ledger moves away. */
const MAX_TRIES = 3;

export interface ViewRequest {
  index: number;
  /** Hex IDs of one to eight blocks. */
  named: readonly string[];
  /**
   * Whether to read blocks that were staged for this milestone too (docs/storage.md#staging).
   * Without it, no packs are read for the ledger's next milestone if a named block is unknown.
   */
  withStaged?: boolean;
  /** Called after the first page, before others; readView throws what it throws. */
  check?: (facts: Pick<ConsistentView, 'head' | 'previous' | 'parameters'>) => void;
  /** How often packs of several milestones may mention outputs: absent, MAX_MENTIONS. */
  maxMentions?: number;
}

/**
 * SQL. For the ledger's next milestone (?2 its index) nothing is looked up: mostly the parents are
 * unreferenced blocks, which are found without the index of IDs.
 */
const FIND_PAST = selectIds(
  `(SELECT CASE WHEN ?2 = (SELECT ledger + 1 FROM head) THEN '[]' ELSE ?1 END)`,
);

/**
 * Returns undefined if nothing was imported. Throws a ConeUnavailable `too-large` if the milestones
 * in reach reference more than MAX_CONE_BLOCKS, or their blocks mention too many outputs, or they are
 * too many; a LedgerMoved if the ledger always moves.
 */
export async function readView(
  db: Database,
  request: ViewRequest,
): Promise<ConsistentView | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      return await readWholeView(db, request);
    } catch (error) {
      if (!(error instanceof LedgerMoved) || tries === MAX_TRIES) throw error;
    }
  }
}

async function readWholeView(
  db: Database,
  request: ViewRequest,
): Promise<ConsistentView | undefined> {
  const view = await readOnce(db, request);
  if (view === undefined || request.index !== view.head.ledger + 1) return view;
  const missing = request.named.filter((id) => !view.named.has(id));
  if (missing.length === 0) return view;
  const { generation, ledger } = view.head;
  const { head, found } = await readBatch(db, {
    head: selectHead(db),
    found: findReferenced(db, missing),
  });
  // an applied milestone adds to the index of IDs: with none since, it tells of the view's moment
  if (head?.generation !== generation || head.ledger !== ledger)
    throw new LedgerMoved('the ledger moved while parents were looked up');
  return { ...view, named: new Map([...view.named, ...found]) };
}

async function readOnce(
  db: Database,
  { index, named, withStaged = false, check, maxMentions = MAX_MENTIONS }: ViewRequest,
): Promise<ConsistentView | undefined> {
  const ids = JSON.stringify(named);
  const { at, given, parameters, blocks, page } = await readBatch(db, {
    at: selectHeadAt(db, index - 1),
    given: selectGiven(db),
    parameters: selectParameters(db),
    blocks: many(db.prepare(FIND_PAST).bind(ids, index), knownBlockFromRow),
    page: selectConePage(db, ids, index, 0, withStaged),
  });
  if (at === undefined) return undefined;
  const { head, milestone: previous } = at;
  check?.({ head, previous, parameters });
  const { reach, rows } = splitPage(page);
  const { unreferenced: readsLive, until, blocks: due } = reach;
  if (due > MAX_CONE_BLOCKS)
    throw new ConeUnavailable('too-large', `more than ${MAX_CONE_BLOCKS} blocks to walk`);
  if (until - index > MAX_SPAN)
    throw new ConeUnavailable('too-large', `more than ${MAX_SPAN} milestones to walk`);
  const next = nextNumbers(head, given);
  const reader = createPackReader(index, next.nextBlock);
  const most = reach.several === 1 ? PAGE_WITH_IDS : PAGE;
  for (let read = rows; ; ) {
    if (reader.add(read) > maxMentions)
      throw new ConeUnavailable(
        'too-large',
        `packs mention outputs more than ${maxMentions} times`,
      );
    if (read.length < most) break;
    const more = await readBatch(db, {
      at: selectHeadAt(db, index - 1),
      page: selectConePage(db, ids, index, reader.lastKey(), withStaged),
    });
    requireSame(at, more.at);
    const now = splitPage(more.page);
    // if a named block was stored in between, this page is of all live packs
    if (JSON.stringify(reach) !== JSON.stringify(now.reach))
      throw new LedgerMoved('a block was stored while the view was read');
    read = now.rows;
  }
  const { cone, packs, states } = reader.finish();
  const { unreferenced, referenced } = countBlocks({ cone, packs }, next.nextBlock, [index, until]);
  const staged = withStaged ? 0 : given.staged;
  const stored = head.unreferenced + next.nextBlock - head.nextBlock - staged;
  if ((readsLive === 1 && unreferenced !== stored) || referenced !== due)
    throw new LedgerDamaged('the names of packs');
  return {
    head,
    previous,
    parameters,
    // the sum of a number in the index of IDs is that of its lower bits: records go first
    named: new Map([...blocks, ...findInCone(cone, named)]),
    cone,
    packs,
    states,
    stored: given.nextBlock,
    unreferenced,
    next,
  };
}

/**
 * Throws a LedgerMoved unless packs were at most appended to since the first head was read. All
 * packs of the view are kept as long as the milestone before the one asked about.
 */
function requireSame(first: HeadAt, now: HeadAt | undefined): void {
  const isSame =
    now !== undefined &&
    isSameHead(now.head, first.head) &&
    now.milestone?.id === first.milestone?.id;
  if (!isSame) throw new LedgerMoved('the ledger moved while it was read');
}

/** Columns of the row about the walk's reach (packs/view-pages.ts). */
const REACH = ['unreferenced', 'until', 'blocks', 'several'] as const;
type Reach = Record<(typeof REACH)[number], number>;

/** The row about the walk's reach, which is there if the state is known, and those of packs. */
function splitPage(page: readonly Row[]): { reach: Reach; rows: Row[] } {
  const isOfPack = (row: Row) => row.integerOrNull('key') !== null;
  const about = page.find((row) => !isOfPack(row));
  const cells = REACH.map((name) => [name, about?.integerOrNull(name) ?? 0]);
  return { reach: Object.fromEntries(cells) as Reach, rows: page.filter(isOfPack) };
}

/**
 * Walks over the view's cone from these parents; undefined if one of them is not known.
 *
 * @param parents hex IDs, in the order of the proposal
 */
export function walkView(
  { named, cone, states }: ConsistentView,
  parents: readonly string[],
  proposal: Omit<Proposal, 'parents'>,
): WhiteFlag | undefined {
  const known = parents.map((id) => named.get(id)?.number).filter((number) => number !== undefined);
  if (known.length < parents.length) return undefined;
  return walkCone(cone, states, { ...proposal, parents: known });
}
