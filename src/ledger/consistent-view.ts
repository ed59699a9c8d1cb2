/**
 * The view of one white-flag request: everything that it may need, all of one moment.
 *
 * For the milestone with index m the walk stops at blocks that milestones before m reference. What
 * it can reach is then: if all parents are referenced by milestones up to k, the blocks of the
 * milestones m to k and nothing else, as a block is never referenced later than its children; if
 * one of them is unreferenced, the blocks of the milestones from m on and all unreferenced ones.
 * The packs that hold those are read, no matter how many of their blocks the walk will meet: for
 * the proposal of the next milestone the live packs, for the audit of a past one the packs of its
 * blocks.
 *
 * Mostly one batch reads all of it. Where there are more packs than a page has, further batches
 * read the others, and the view is still that of the first batch: packs are only appended to while
 * the head is the same, and blocks with numbers that were free then are left out.
 */
import type { ParameterTable } from '../stardust/parameter-table.ts';
import { renumberOutputs } from '../stardust/white-flag/block-record.ts';
import { type Cone, readCone } from '../stardust/white-flag/cone.ts';
import { NumberMap } from '../stardust/white-flag/number-map.ts';
import { LedgerState } from '../stardust/white-flag/walk.ts';
import { ConeUnavailable } from './block-source.ts';
import { type Database, runBatch } from './database.ts';
import { LedgerMoved } from './fence.ts';
import {
  type Head,
  headFromRow,
  type KnownMilestone,
  milestoneFromRow,
  SELECT_HEAD,
} from './head.ts';
import { selectIds } from './id-index.ts';
import { findInCone, type KnownBlock, knownBlock } from './known-blocks.ts';
import {
  findOutputs,
  type NextNumbers,
  type Numbering,
  numberOutputs,
  type OutputsToFind,
} from './known-outputs.ts';
import { parameterTable, SELECT_PARAMETERS } from './ledger-parameters.ts';
import {
  PARTS,
  readStates,
  WALKED_COLUMNS,
  type WalkedPack,
  walkedPacksFromRows,
} from './packs.ts';
import type { PreparedBlock } from './prepare-blocks.ts';
import { isUnreferencedIn, type ViewedPack } from './viewed-packs.ts';

export interface ConsistentView {
  head: Head;
  /** The milestone before the one asked for. */
  previous: KnownMilestone | undefined;
  /** Protocol parameters, pending ones too. */
  parameters: ParameterTable;
  /** The named blocks that are known, by ID. */
  named: ReadonlyMap<string, KnownBlock>;
  /** All blocks that the walk may meet; those that earlier milestones reference are excluded. */
  cone: Cone;
  /** The packs that hold the blocks of the cone, in the same order. */
  packs: readonly ViewedPack[];
  /**
   * By number, the state before the milestone of every output that one of these blocks consumes.
   */
  states: NumberMap;
  /** The highest next_block of a live pack; undefined where none is live. */
  stored: number | undefined;
  /** Of the outputs that were to be found, and what is free. */
  numbering: Omit<Numbering, 'blocks'>;
  /** Whether no packs were read, as a named block is not known. */
  isPartial: boolean;
}

/** Packs of one batch: some 30,000 blocks. */
const PAGE = 128;

/** How often a view is begun that the ledger moves away from. */
const MAX_TRIES = 3;

/** A question for the view. */
export interface ViewRequest {
  /** Of the milestone asked about. */
  index: number;
  /** Hex IDs of blocks. */
  named: readonly string[];
  /** Outputs whose numbers, contents and states are wanted too. */
  outputs?: OutputsToFind;
  /**
   * Whether to read the blocks too that were staged for this milestone (docs/storage.md#staging).
   */
  withStaged?: boolean;
  /**
   * About the ledger's next milestone: read no packs where one of the named blocks is not known, as
   * the request will be retried.
   */
  ifKnown?: boolean;
}

/** ?2 the milestone's index: about the ledger's next nothing is looked up where ?3 is not 0. */
const NAMED = `CASE WHEN ?3 AND ?2 = (SELECT ledger + 1 FROM head) THEN '[]' ELSE ?1 END`;

const FIND_NAMED = selectIds(`(SELECT ${NAMED})`);

/** SQL that is true where one of the visible live packs names this block; the newest come first. */
const isInLivePack = (id: string) =>
  `(SELECT 1 FROM pack o WHERE o.live = 1 AND o.staged IS NULL
    AND instr(o.blocks, '"' || ${id} || '"') > 0 ORDER BY o.key DESC LIMIT 1) IS NOT NULL`;

/** SQL of the columns that a view reads of a pack `p`, given `reach`. */
const VIEWED_COLUMNS = `
  ${WALKED_COLUMNS}, CASE WHEN ?2 <= r.ledger AND (r.unreferenced OR r.last > ?2 OR ?4) THEN (
    SELECT json_group_array(json_array(e.value ->> 0, e.value ->> 1))
    FROM json_each(p.outputs) b CROSS JOIN json_each(b.value) e) END AS mentions`;

/** SQL that is true of the packs with unreferenced blocks that the walk may meet. */
const IS_LIVE = 'r.unreferenced AND p.live = 1 AND (p.staged IS NULL OR ?7 AND p.staged = ?2)';

/**
 * ?1 the IDs of the named blocks, ?2 the milestone's index, ?3 the most rows, ?6 the key after
 * which the page begins. Nothing is read for a state that is not known here: there may be millions
 * of milestones after it. `mentions` where the blocks are of more than one milestone, or other
 * blocks come in (?4): then outputs may have several numbers. A row `lost` instead of live packs
 * where ?5 asks for it and a named block is not known: the newest packs are searched first, as that
 * is where proposals have their parents. With ?7 the packs staged for this milestone are read too.
 */
const SELECT_CONE = `
  WITH
    asked(ledger, ids) AS MATERIALIZED (
      SELECT ledger, CASE WHEN ?2 > ledger THEN '[]' ELSE ?1 END FROM head
      WHERE EXISTS (SELECT 1 FROM milestone WHERE idx = ?2 - 1)),
    found(id, milestone) AS MATERIALIZED (
      SELECT f.id, f.milestone FROM (${selectIds('(SELECT ids FROM asked)')}) f),
    reach(ledger, last, unreferenced) AS MATERIALIZED (
      SELECT ledger, (SELECT max(milestone) FROM found),
        CASE WHEN ?2 > ledger AND ?5 THEN NOT EXISTS (
          SELECT 1 FROM json_each(?1) wanted
          WHERE NOT ${isInLivePack('wanted.value')}
            AND NOT EXISTS (${selectIds('json_array(wanted.value)')}))
        WHEN ?2 > ledger THEN 1 ELSE EXISTS (
        SELECT 1 FROM json_each(asked.ids) j WHERE j.value NOT IN (SELECT id FROM found)
          AND ${isInLivePack('j.value')}) END
      FROM asked),
    wanted(key) AS MATERIALIZED (
      SELECT DISTINCT k.value FROM reach r CROSS JOIN milestone_part m ON m.key >= ?2 * ${PARTS}
        AND m.key < (CASE WHEN r.unreferenced THEN r.ledger ELSE r.last END + 1) * ${PARTS}
        CROSS JOIN json_each(m.packs) k)
  SELECT NULL AS key, NULL AS records, NULL AS statuses, NULL AS states, NULL AS sums,
    NULL AS staged, NULL AS mentions
  FROM reach r WHERE ?2 > r.ledger AND NOT r.unreferenced
  UNION ALL
  SELECT * FROM (
    SELECT ${VIEWED_COLUMNS} FROM reach r CROSS JOIN pack p WHERE ${IS_LIVE} AND p.key > ?6
    UNION ALL
    SELECT ${VIEWED_COLUMNS} FROM reach r CROSS JOIN wanted w CROSS JOIN pack p ON p.key = w.key
    WHERE NOT (${IS_LIVE}) AND p.key > ?6
    ORDER BY 1 LIMIT ?3)`;

/**
 * Numbers that live packs have given; those from these on are free. Blocks are only stored in the
 * last visible and the last staged pack.
 */
export const SELECT_NEXT = `
  SELECT max(next_block) AS next_block, max(next_output) AS next_output FROM (
    SELECT * FROM (SELECT next_block, next_output FROM pack WHERE live = 1 AND staged IS NULL
      ORDER BY key DESC LIMIT 1)
    UNION ALL SELECT * FROM (SELECT next_block, next_output FROM pack WHERE live = 1
      AND staged IS NOT NULL ORDER BY staged DESC, key DESC LIMIT 1))`;

/**
 * The highest next_block of a live pack, from a row of SELECT_NEXT; undefined where none is live.
 */
export function storedUpTo(row: Record<string, unknown>): number | undefined {
  return row.next_block === null ? undefined : Number(row.next_block);
}

/** @param row of SELECT_NEXT, of the same moment as the head */
export function nextNumbers(head: Head, row: Record<string, unknown>): NextNumbers {
  return {
    nextBlock: Math.max(head.nextBlock, Number(row.next_block)),
    nextOutput: Math.max(head.nextOutput, Number(row.next_output)),
  };
}

/** D1 takes texts of 2,000,000 bytes. */
const MAX_NAMES = 1_900_000;

/**
 * Undefined when nothing was imported. Throws a ConeUnavailable, `too-large`, when more blocks are
 * named than one statement takes, and a LedgerMoved where the ledger moves whenever it is read.
 */
export async function readView(
  db: Database,
  request: ViewRequest,
): Promise<ConsistentView | undefined> {
  // mostly the parents are unreferenced blocks, which are found without the index of IDs
  const isHot = request.outputs === undefined && request.named.length <= 8;
  const view = await readWhole(db, request, isHot);
  if (view === undefined || !isHot || request.index !== view.head.ledger + 1) return view;
  const missing = request.named.filter((id) => !view.named.has(id));
  if (missing.length === 0 || view.isPartial) return view;
  const found = await findReferenced(db, view.head, missing);
  // milestones alone change the index of IDs: with none since, it tells of the view's moment
  return found === undefined
    ? readWhole(db, request, false)
    : { ...view, named: new Map([...view.named, ...found]) };
}

/** Those of the blocks that milestones reference; undefined where the ledger has moved. */
async function findReferenced(
  db: Database,
  { generation, ledger }: Head,
  ids: readonly string[],
): Promise<Map<string, KnownBlock> | undefined> {
  const [heads, found] = await runBatch(db, [
    db.prepare(SELECT_HEAD).bind(null),
    db.prepare(FIND_NAMED).bind(JSON.stringify(ids), ledger + 1, 0),
  ]);
  const head = heads![0] && headFromRow(heads![0]);
  const isSame = head?.generation === generation && head.ledger === ledger;
  return isSame ? new Map(found!.map(knownBlock)) : undefined;
}

async function readWhole(
  db: Database,
  request: ViewRequest,
  isHot: boolean,
): Promise<ConsistentView | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      return await readOnce(db, request, isHot);
    } catch (error) {
      if (!(error instanceof LedgerMoved) || tries === MAX_TRIES) throw error;
    }
  }
}

async function readOnce(
  db: Database,
  { index, named, outputs, withStaged = false, ifKnown = false }: ViewRequest,
  isHot: boolean,
): Promise<ConsistentView | undefined> {
  const ids = JSON.stringify(named);
  if (ids.length > MAX_NAMES)
    throw new ConeUnavailable('too-large', `more than ${named.length} blocks: too many to walk`);
  const selectPage = (after: number) =>
    db
      .prepare(SELECT_CONE)
      .bind(ids, index, PAGE, outputs ? 1 : 0, ifKnown ? 1 : 0, after, withStaged ? 1 : 0);
  const [heads, nexts, options, blocks, page, ...found] = await runBatch(db, [
    db.prepare(SELECT_HEAD).bind(index - 1),
    db.prepare(SELECT_NEXT),
    db.prepare(SELECT_PARAMETERS),
    db.prepare(FIND_NAMED).bind(ids, index, isHot ? 1 : 0),
    selectPage(0),
    ...(outputs === undefined ? [] : findOutputs(db, outputs)),
  ]);
  if (heads![0] === undefined) return undefined;
  const head = headFromRow(heads![0]);
  const next = nextNumbers(head, nexts![0]!);
  const rows = page!.filter(({ key }) => key !== null);
  const reader = createPackReader(index);
  reader.add(rows);
  for (let read = rows; read.length === PAGE; ) {
    const [again, next] = await runBatch(db, [
      db.prepare(SELECT_HEAD).bind(index - 1),
      selectPage(reader.lastKey),
    ]);
    requireSame(heads![0], again![0]);
    read = next!;
    reader.add(read);
  }
  const { cone, packs, states, numberOf } = reader.finish(next.nextBlock);
  const isUnreferenced = isUnreferencedIn(packs);
  return {
    head,
    previous: milestoneFromRow(heads![0]),
    parameters: parameterTable(options!),
    named: new Map([...findInCone(cone, named), ...blocks!.map(knownBlock)]),
    cone,
    packs,
    states,
    stored: storedUpTo(nexts![0]!),
    numbering: numberOutputs(
      found.flat(),
      outputs?.mentioned ?? [],
      next,
      numberOf,
      isUnreferenced,
    ),
    isPartial: rows.length < page!.length,
  };
}

/**
 * Throws a LedgerMoved unless packs were at most appended to since the first row of SELECT_HEAD was
 * read. While the milestone before the one asked about is kept, so are all packs of the view.
 */
function requireSame(
  first: Record<string, unknown>,
  row: Record<string, unknown> | undefined,
): void {
  const before = headFromRow(first);
  const now = row && headFromRow(row);
  const isSame =
    now?.generation === before.generation &&
    now.ledger === before.ledger &&
    now.dropped === before.dropped &&
    milestoneFromRow(row!)?.id === milestoneFromRow(first)?.id;
  if (!isSame) throw new LedgerMoved('the ledger moved while it was read');
}

interface ViewedPacks {
  cone: Cone;
  packs: ViewedPack[];
  /** By number, before the milestone. */
  states: NumberMap;
  /** Outputs by ID, where the blocks are of several milestones. */
  numberOf: Map<string, number> | undefined;
}

/**
 * Reads packs page by page, to the blocks that a walk may meet and the states of what they consume.
 *
 * @param index of the milestone whose states before it are wanted
 */
function createPackReader(index: number) {
  const states = new NumberMap();
  const packs: ViewedPack[] = [];
  const records: Uint8Array[] = [];
  let numberOf: Map<string, number> | undefined;
  let first = 0;

  /** One number for each output, whatever numbers it has in the packs. */
  function unify(mentions: string, pack: WalkedPack): (number: number) => number | undefined {
    numberOf ??= new Map();
    const own = new Map<number, number>();
    for (const [number, id] of JSON.parse(mentions) as [number, string][]) {
      const one = numberOf.get(id) ?? numberOf.size + 1;
      numberOf.set(id, one);
      own.set(number, one);
    }
    renumberOutputs(pack.records, (number) => own.get(number)!);
    return (number) => own.get(number);
  }

  return {
    get lastKey() {
      return packs.at(-1)!.key;
    },
    add(rows: readonly Record<string, unknown>[]): void {
      const page = walkedPacksFromRows(rows);
      records.push(page.records);
      for (const [i, pack] of page.packs.entries()) {
        const { mentions } = rows[i]!;
        const numberIn = mentions === null ? undefined : unify(String(mentions), pack);
        addStates(pack.states, index, states, numberIn);
        const { records: _, ...rest } = pack;
        packs.push({ ...rest, first });
        first += pack.statuses.size;
      }
    },
    /** @param nextBlock blocks with numbers from this one on were stored after the first page */
    finish(nextBlock: number): ViewedPacks {
      const before = new Uint8Array(first);
      for (const { first: start, statuses } of packs) {
        for (let at = 0; at < statuses.size; at++) {
          const milestone = statuses.milestoneAt(at);
          if (milestone !== 0 && milestone < index) before[start + at] = 1;
        }
      }
      const cone = readCone(
        records,
        (position, number) => before[position] === 1 || number >= nextBlock,
      );
      if (cone.size !== first) throw new Error('a pack has more records than statuses, or fewer');
      return { cone, packs, states, numberOf };
    },
  };
}

/**
 * The states before the milestone. Packs with blocks that were referenced long ago may not know yet
 * that an output was created or spent: whoever knows more is right.
 */
function addStates(
  bytes: Uint8Array,
  index: number,
  states: NumberMap,
  numberOf: (number: number) => number | undefined = (number) => number,
): void {
  readStates(bytes, (own, created, spent) => {
    if (created >= index) return;
    const number = numberOf(own);
    if (number === undefined) return;
    if (spent > 0 && spent < index) states.set(number, LedgerState.Spent);
    else if (!states.has(number)) states.set(number, LedgerState.Unspent);
  });
}

export interface LoadedCone {
  view: ConsistentView;
  cone: Cone;
  /** Numbers of the proposal's parents, in their order. */
  parents: number[];
  /** Blocks that D1 does not have, parents first. */
  fetched: PreparedBlock[];
  /** The numbers that they and their outputs were given. */
  numbering: Numbering;
}

/**
 * The cone of these parents, where D1 has all of it; undefined where a parent is not known.
 *
 * @param parents hex IDs
 */
export function storedCone(
  view: ConsistentView,
  parents: readonly string[],
): LoadedCone | undefined {
  if (parents.some((id) => !view.named.has(id))) return undefined;
  const numbering = { ...view.numbering, blocks: new Map(view.named) };
  const { cone } = view;
  return { view, cone, parents: numbersOf(parents, view.named), fetched: [], numbering };
}

export function numbersOf(
  ids: readonly string[],
  known: ReadonlyMap<string, KnownBlock>,
): number[] {
  return ids.map((id) => known.get(id)!.number);
}
