/**
 * The view of one white-flag request: everything that it may need, in one batch, so that it is all
 * of one moment.
 *
 * For the milestone with index m the walk stops at blocks that milestones before m reference. What
 * it can reach is then: if all parents are referenced by milestones up to k, the blocks of the
 * milestones m to k and nothing else, as a block is never referenced later than its children; if
 * one of them is referenced by none, the blocks of the milestones from m on and all open ones.
 * Those are read, no matter how many of them the walk will meet. So for the proposal of the next
 * milestone these are the open blocks, and for the audit of a past one the blocks of that
 * milestone.
 */
import { fromBase64Pieces } from '../stardust/bytes.ts';
import type { ParameterTable } from '../stardust/parameter-table.ts';
import { renumberOutputs } from '../stardust/white-flag/block-record.ts';
import { type Cone, readCone } from '../stardust/white-flag/cone.ts';
import { NumberMap } from '../stardust/white-flag/number-map.ts';
import { LedgerState } from '../stardust/white-flag/walk.ts';
import { ConeUnavailable } from './block-source.ts';
import { type Database, runBatch } from './database.ts';
import {
  type Head,
  headFromRow,
  type KnownMilestone,
  milestoneFromRow,
  SELECT_HEAD,
} from './head.ts';
import { selectIds } from './id-index.ts';
import { findInCone, type KnownBlock, knownBlock } from './known-blocks.ts';
import { findOutputs, type Numbering, numberOutputs, type OutputsToFind } from './known-outputs.ts';
import { parameterTable, SELECT_PARAMETERS } from './ledger-parameters.ts';
import { type Mention, PARTS, readStates } from './packs.ts';
import type { PreparedBlock } from './prepare-blocks.ts';
import type { ViewedPack } from './viewed-packs.ts';

export interface ConsistentView {
  head: Head;
  /** The milestone before the one asked for. */
  previous: KnownMilestone | undefined;
  /** Protocol parameters, pending ones too. */
  parameters: ParameterTable;
  /** The named blocks that are known, by ID. */
  named: ReadonlyMap<string, KnownBlock>;
  /** All blocks that the walk may meet. */
  cone: Cone;
  /** The packs that the blocks of the cone stand in, in the same order. */
  packs: readonly ViewedPack[];
  /**
   * By number, the state before the milestone of every output that one of these blocks consumes.
   */
  states: NumberMap;
  /** Of the outputs that were to be found, and what is free. */
  numbering: Omit<Numbering, 'blocks'>;
  /** Whether no packs were read, as a named block is not known. */
  isPartial: boolean;
}

/** The most packs that a request reads. A cone that needs more is not walked for it. */
const MAX_PACKS = 800;

/** The same for the follower, which cannot go round it. */
export const MAX_PACKS_TO_FOLLOW = 100_000;

/** A question for the view. */
export interface ViewRequest {
  /** Of the milestone asked about. */
  index: number;
  /** Hex IDs of blocks. */
  named: readonly string[];
  /** Outputs whose numbers, contents and states are wanted too. */
  outputs?: OutputsToFind;
  /** Default: as many as a request may read. */
  maxPacks?: number;
  /**
   * About the ledger's next milestone: read no packs where one of the named blocks is not known, as
   * the question will be put again.
   */
  ifKnown?: boolean;
}

/** ?2 the milestone's index: about the ledger's next nothing is looked up where ?3 is not 0. */
const NAMED = `CASE WHEN ?3 AND ?2 = (SELECT ledger + 1 FROM head) THEN '[]' ELSE ?1 END`;

const FIND_NAMED = selectIds(`(SELECT ${NAMED})`);

/**
 * ?1 the IDs of the named blocks, ?2 the milestone's index, ?3 the most rows. Nothing is read for a
 * state that is not known here: there may be millions of milestones after it. `mentions` where the
 * packs come from more than one milestone, or other blocks come in (?4), as the numbers of outputs
 * mean something only within the packs of each. A row `lost` instead of open packs where ?5 asks for
 * it and a named block is not known: the newest packs are searched first, as that is where proposals
 * have their parents.
 */
const SELECT_CONE = `
  WITH
    asked(ledger, ids) AS MATERIALIZED (
      SELECT ledger, CASE WHEN ?2 > ledger THEN '[]' ELSE ?1 END FROM head
      WHERE EXISTS (SELECT 1 FROM milestone WHERE idx = ?2 - 1)),
    found(id, milestone) AS MATERIALIZED (
      SELECT f.id, f.milestone FROM (${selectIds('(SELECT ids FROM asked)')}) f),
    reach(ledger, last, open) AS MATERIALIZED (
      SELECT ledger, (SELECT max(milestone) FROM found),
        CASE WHEN ?2 > ledger AND ?5 THEN NOT EXISTS (
          SELECT 1 FROM json_each(?1) wanted
          WHERE (SELECT 1 FROM open o WHERE instr(o.blocks, '"' || wanted.value || '"') > 0
              ORDER BY o.key DESC LIMIT 1) IS NULL
            AND NOT EXISTS (${selectIds('json_array(wanted.value)')}))
        WHEN ?2 > ledger THEN 1 ELSE EXISTS (
        SELECT 1 FROM json_each(asked.ids) j WHERE j.value NOT IN (SELECT id FROM found)
          AND EXISTS (SELECT 1 FROM open o WHERE instr(o.blocks, '"' || j.value || '"') > 0)) END
      FROM asked)
  SELECT 'pack' AS name, p.key, p.records, p.states, NULL AS next_block, NULL AS next_output,
    CASE WHEN r.open OR r.last > ?2 OR ?4 THEN p.mentions END AS mentions
  FROM reach r CROSS JOIN pack p WHERE p.key >= ?2 * ${PARTS}
    AND p.key < (CASE WHEN r.open THEN r.ledger ELSE r.last END + 1) * ${PARTS}
  UNION ALL
  SELECT 'open', o.key, o.records, o.states, o.next_block, o.next_output, CASE WHEN ?2 <= r.ledger
    THEN (SELECT json_group_array(json_array(j.value ->> 0, j.value ->> 1))
      FROM json_each(o.outputs) j) END
  FROM reach r CROSS JOIN open o WHERE r.open
  UNION ALL SELECT 'lost', NULL, NULL, NULL, NULL, NULL, NULL
    FROM reach r WHERE ?2 > r.ledger AND NOT r.open
  LIMIT ?3`;

/** D1 takes texts of 2,000,000 bytes. */
const MAX_NAMES = 1_900_000;

/**
 * Undefined when nothing was imported. Throws a ConeUnavailable, `too-large`, when the cone cannot
 * be read at once.
 */
export async function readView(
  db: Database,
  request: ViewRequest,
): Promise<ConsistentView | undefined> {
  // mostly the parents stand among the open blocks, where they are found without the index of IDs
  const isHot = request.outputs === undefined && request.named.length <= 8;
  const view = await readOnce(db, request, isHot);
  if (view === undefined || !isHot || request.index !== view.head.ledger + 1) return view;
  const missing = request.named.filter((id) => !view.named.has(id));
  if (missing.length === 0 || view.isPartial) return view;
  const found = await findReferenced(db, view.head, missing);
  // milestones alone change the index of IDs: with none since, it tells of the view's moment
  return found === undefined
    ? readOnce(db, request, false)
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

async function readOnce(
  db: Database,
  { index, named, outputs, maxPacks = MAX_PACKS, ifKnown = false }: ViewRequest,
  isHot: boolean,
): Promise<ConsistentView | undefined> {
  const ids = JSON.stringify(named);
  if (ids.length > MAX_NAMES) throw tooLarge(`more than ${named.length} blocks`);
  const [heads, options, blocks, packed, ...found] = await runBatch(db, [
    db.prepare(SELECT_HEAD).bind(index - 1),
    db.prepare(SELECT_PARAMETERS),
    db.prepare(FIND_NAMED).bind(ids, index, isHot ? 1 : 0),
    db
      .prepare(SELECT_CONE)
      .bind(ids, index, maxPacks + 1, outputs === undefined ? 0 : 1, ifKnown ? 1 : 0),
    ...(outputs === undefined ? [] : findOutputs(db, outputs)),
  ]);
  if (heads![0] === undefined) return undefined;
  if (packed!.length > maxPacks) throw tooLarge(`a cone in more than ${maxPacks} packs`);
  const head = headFromRow(heads![0]);
  const rows = packed!.filter(({ name }) => name !== 'lost');
  const { cone, packs, states, numberOf } = readPacks(rows, index);
  const open = rows.filter(({ name }) => name === 'open');
  const next = {
    nextBlock: Math.max(head.nextBlock, ...open.map((row) => Number(row.next_block))),
    nextOutput: Math.max(head.nextOutput, ...open.map((row) => Number(row.next_output))),
  };
  return {
    head,
    previous: milestoneFromRow(heads![0]),
    parameters: parameterTable(options!),
    named: new Map([...findInCone(cone, named), ...blocks!.map(knownBlock)]),
    cone,
    packs,
    states,
    numbering: numberOutputs(found.flat(), outputs?.mentioned ?? [], next, numberOf),
    isPartial: rows.length < packed!.length,
  };
}

function tooLarge(what: string): ConeUnavailable {
  return new ConeUnavailable('too-large', `${what}: too many to walk`);
}

interface ViewedPacks {
  cone: Cone;
  packs: ViewedPack[];
  /** By number, before the milestone. */
  states: NumberMap;
  /** Outputs by ID, where the packs are of several milestones. */
  numberOf: Map<string, number> | undefined;
}

/**
 * From the rows of packs to the blocks that a walk may meet, and the states of what they consume.
 *
 * @param rows of the table's name, key, records, states and mentions; those of one milestone, or of
 *   the open packs, without mentions
 * @param index of the milestone whose states before it are wanted
 */
function readPacks(rows: readonly Record<string, unknown>[], index: number): ViewedPacks {
  const states = new NumberMap();
  const texts = rows.map((row) => String(row.records));
  const packs = rows.map(({ name, key }, i): ViewedPack => {
    return { table: name as 'open' | 'pack', key: Number(key), length: bytesIn(texts[i]!) };
  });
  const records = fromBase64Pieces(texts);
  const isSpan = rows.some(({ mentions }) => mentions !== null);
  if (!isSpan) {
    for (const row of rows) addStates(String(row.states), index, states, (number) => number);
    return { cone: readCone([records]), packs, states, numberOf: undefined };
  }
  const numberOf = new Map<string, number>();
  let start = 0;
  for (const [i, row] of rows.entries()) {
    const own = new Map<number, number>();
    for (const [number, id] of JSON.parse(String(row.mentions)) as Mention[]) {
      const one = numberOf.get(id) ?? numberOf.size + 1;
      numberOf.set(id, one);
      own.set(number, one);
    }
    const { length } = packs[i]!;
    renumberOutputs(records.subarray(start, start + length), (number) => own.get(number)!);
    addStates(String(row.states), index, states, (number) => own.get(number)!);
    start += length;
  }
  return { cone: readCone([records]), packs, states, numberOf };
}

/** Of base64 without padding. */
function bytesIn(text: string): number {
  return (text.length / 4) * 3;
}

/**
 * The states before the milestone. Of two packs the later knows more only of what is not before.
 */
function addStates(
  text: string,
  index: number,
  states: NumberMap,
  numberOf: (number: number) => number,
): void {
  readStates(text, (number, created, spent) => {
    if (created >= index) return;
    const isSpent = spent > 0 && spent < index;
    states.set(numberOf(number), isSpent ? LedgerState.Spent : LedgerState.Unspent);
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
