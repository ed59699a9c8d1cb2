/**
 * The IDs of unreferenced blocks that are stored, and of the outputs that they mention, with their
 * numbers: kept in memory by the follower. It stores blocks each second, and need not read all live
 * packs each time.
 *
 * D1 has what is kept here as long as the ledger's generation and index, `dropped` and the next
 * free block number are the same: each change of the unreferenced blocks changes one of these. They
 * are read in the batch that looks up everything else, and the write is fenced on them
 * (store-blocks.ts). Where they differ, the index is loaded again.
 */
import { fromBase64 } from '../../stardust/encoding/bytes.ts';
import { type Database, forEachPiece, runBatch } from '../core/database.ts';
import { LedgerMoved } from '../core/fence.ts';
import { type Head, headFromRow, isSameHead, SELECT_HEAD } from '../core/head.ts';
import { IdMap } from '../core/id-map.ts';
import { type PackChecksums, readChecksums, STATUS_LENGTH, Statuses } from '../core/packs.ts';
import {
  type FindUnreferenced,
  findReferenced,
  type KnownBlock,
  knownBlock,
} from '../intake/known-blocks.ts';
import {
  FIND_MENTIONED,
  findLedgerOutputs,
  type KnownOutput,
  knownOutputs,
  type NextNumbers,
  type Numbering,
  type OutputsToFind,
} from '../intake/known-outputs.ts';
import { nextNumbers, SELECT_NEXT, storedUpTo } from '../intake/next-numbers.ts';
import type { PreparedBlock } from '../intake/prepare-blocks.ts';
import type { LeftBlocks } from '../view/viewed-packs.ts';

/** A pack that blocks can be appended to. */
export interface LastPack {
  key: number;
  blocks: number;
  /** Characters. */
  length: number;
  sums: PackChecksums;
}

/** The unreferenced blocks, and what is known of others, all of one moment. */
export interface UnreferencedView {
  head: Head;
  /** Unreferenced blocks that are stored, staged ones too. */
  size: number;
  /** The highest next_block of a live pack; undefined where none is live. */
  stored: number | undefined;
  /** The named blocks that are known, by hex ID; not those that are staged. */
  named: ReadonlyMap<string, KnownBlock>;
  findUnreferenced: FindUnreferenced;
  /** The number of a block that is staged for the next milestone, by hex ID. */
  stagedNumber(id: string): number | undefined;
  /** The packs to append to: of visible blocks, and of those staged for the next milestone. */
  last: { visible: LastPack | undefined; staged: LastPack | undefined };
  /** Of the outputs that were to be found, and what is free. */
  numbering: Omit<Numbering, 'blocks'>;
}

export interface UnreferencedIndex {
  /**
   * Reads what is known of blocks and outputs. Throws a LedgerMoved where an import has replaced
   * the ledger, or where the unreferenced blocks change whenever they are read.
   *
   * @param head as it was read last; the ledger may be beyond it by now
   * @param named hex IDs of blocks
   */
  view(
    db: Database,
    head: Pick<Head, 'generation' | 'ledger'>,
    named: readonly string[],
    outputs?: OutputsToFind,
  ): Promise<UnreferencedView>;
  /** Notes what was stored behind that view. */
  stored(
    view: UnreferencedView,
    blocks: readonly PreparedBlock[],
    staged: ReadonlySet<string>,
    next: NextNumbers,
  ): void;
  /**
   * Notes that blocks left: a milestone referenced them, or they were dropped.
   *
   * @param before what the view had from which they left: blocks that others stored before it was
   *   read, and that are not noted here, would be missing from then on
   * @param after the head since then, and the highest next_block of a live pack
   */
  retain(
    before: Pick<UnreferencedView, 'head' | 'stored'>,
    after: { ledger: number; dropped: number; stored: number | undefined },
    left: LeftBlocks,
  ): void;
  clear(): void;
}

interface Loaded extends NextNumbers {
  generation: string;
  ledger: number;
  dropped: number;
  stored: number | undefined;
  visible: IdMap;
  staged: IdMap;
  outputs: IdMap;
}

/** Rows of live packs that are loaded at once. */
const PAGE = 64;

/** Places of blocks and outputs in the JSON stay aligned with the statuses. */
const SELECT_IDS = `
  SELECT p.key, p.staged, p.statuses, p.next_output,
    (SELECT json_group_array(json_array(b.value ->> 0, b.value ->> 1) ORDER BY b.key)
      FROM json_each(p.blocks) b) AS blocks,
    (SELECT json_group_array(json_array(b.key, e.value ->> 0, e.value ->> 1))
      FROM json_each(p.outputs) b CROSS JOIN json_each(b.value) e) AS outputs
  FROM pack p WHERE p.live = 1 AND p.key > ?1 ORDER BY p.key LIMIT ${PAGE}`;

const SELECT_LAST = `
  SELECT key, length(statuses) / ${STATUS_LENGTH} AS blocks, sums, octet_length(records) + octet_length(statuses) +
    octet_length(states) + octet_length(blocks) + octet_length(outputs) + octet_length(bytes) AS length
  FROM pack WHERE live = 1 AND staged IS ?1 ORDER BY key DESC LIMIT 1`;

const NO_OUTPUTS: OutputsToFind = { mentioned: [], consumed: [] };

/** How often a view is begun that the unreferenced blocks move away from. */
const MAX_TRIES = 3;

export function createUnreferencedIndex(): UnreferencedIndex {
  let held: Loaded | undefined;

  async function load(db: Database): Promise<Loaded> {
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const loaded = await loadOnce(db);
      if (loaded !== undefined) return loaded;
    }
    throw new LedgerMoved('the unreferenced blocks change whenever they are read');
  }

  return {
    async view(db, before, named, outputs = NO_OUTPUTS) {
      for (let tries = 1; tries <= MAX_TRIES; tries++) {
        held ??= await load(db);
        const view = await viewWith(db, held, { before, named, outputs });
        if (view !== undefined) return view;
        held = undefined;
      }
      throw new LedgerMoved('the unreferenced blocks change whenever they are read');
    },
    stored(view, blocks, staged, { nextBlock, nextOutput }) {
      if (held === undefined || !isSame(held, view.head, view.stored)) return;
      for (const { id, number, consumed, created } of blocks) {
        (staged.has(id) ? held.staged : held.visible).set(id, number);
        for (const output of consumed) held.outputs.set(output.id, output.number);
        for (const output of created) held.outputs.set(output.id, output.number);
      }
      Object.assign(held, { nextBlock, nextOutput, stored: nextBlock });
    },
    retain(before, { ledger, dropped, stored }, left) {
      if (held === undefined || !isSame(held, before.head, before.stored)) {
        held = undefined;
        return;
      }
      const staged = held.staged.filter(left.hasBlock);
      if (ledger !== before.head.ledger && staged.size > 0) {
        // the milestone left them out: they are deleted, or visible now
        held = undefined;
        return;
      }
      held.visible = held.visible.filter(left.hasBlock);
      held.staged = staged;
      held.outputs = held.outputs.filter(left.mentions);
      Object.assign(held, { ledger, dropped, stored });
    },
    clear() {
      held = undefined;
    },
  };
}

/** Undefined where the ledger moved meanwhile. */
async function loadOnce(db: Database): Promise<Loaded | undefined> {
  const visible = new IdMap(32);
  const staged = new IdMap(32);
  const outputs = new IdMap(34);
  let first: { head: Head; row: Record<string, unknown> } | undefined;
  for (let after = 0, read = PAGE; read === PAGE; ) {
    const [heads, nexts, rows] = await runBatch(db, [
      db.prepare(SELECT_HEAD).bind(null),
      db.prepare(SELECT_NEXT),
      db.prepare(SELECT_IDS).bind(after),
    ]);
    if (heads![0] === undefined) throw new LedgerMoved('there is no ledger any more');
    const head = headFromRow(heads![0]);
    first ??= { head, row: nexts![0]! };
    const isUnchanged = nexts![0]!.next_block === first.row.next_block;
    if (!isUnchanged || !isSameHead(head, first.head)) return undefined;
    for (const row of rows!) addRow(row, head.ledger + 1, { visible, staged, outputs });
    read = rows!.length;
    after = Number(rows!.at(-1)?.key);
  }
  const { head, row } = first!;
  const { generation, ledger, dropped } = head;
  const stored = storedUpTo(row);
  return {
    generation,
    ledger,
    dropped,
    stored,
    ...nextNumbers(head, row),
    visible,
    staged,
    outputs,
  };
}

function addRow(
  row: Record<string, unknown>,
  next: number,
  { visible, staged, outputs }: Pick<Loaded, 'visible' | 'staged' | 'outputs'>,
): void {
  if (row.staged !== null && Number(row.staged) !== next) return;
  const statuses = new Statuses(fromBase64(String(row.statuses)));
  const ids = row.staged === null ? visible : staged;
  for (const [at, [number, id]] of (JSON.parse(String(row.blocks)) as [number, string][]).entries())
    if (statuses.milestoneAt(at) === 0) ids.set(id, number);
  for (const [at, number, id] of JSON.parse(String(row.outputs)) as [number, number, string][])
    if (statuses.milestoneAt(at) === 0) outputs.set(id, number);
}

function isSame(known: Loaded, head: Head, stored: number | undefined): boolean {
  return stored === known.stored && isSameHead(known, head);
}

interface Asked {
  before: Pick<Head, 'generation' | 'ledger'>;
  named: readonly string[];
  outputs: OutputsToFind;
}

/** Undefined where D1 has not what was loaded. */
async function viewWith(
  db: Database,
  known: Loaded,
  { before, named, outputs }: Asked,
): Promise<UnreferencedView | undefined> {
  const others = named.filter((id) => !known.visible.has(id));
  const blocks = findReferenced(db, others);
  // contents of what unreferenced blocks create are not kept in memory
  const inPacks = outputs.consumed.filter((id) => known.outputs.has(id));
  const contents = forEachPiece(db, FIND_MENTIONED, inPacks);
  const [heads, nexts, visible, staged, ...found] = await runBatch(db, [
    db.prepare(SELECT_HEAD).bind(null),
    db.prepare(SELECT_NEXT),
    db.prepare(SELECT_LAST).bind(null),
    db.prepare(SELECT_LAST).bind(known.ledger + 1),
    ...blocks,
    ...contents,
    ...findLedgerOutputs(db, outputs.consumed),
  ]);
  const head = heads![0] && headFromRow(heads![0]);
  if (head?.generation !== before.generation) throw new LedgerMoved('the ledger was replaced');
  const stored = storedUpTo(nexts![0]!);
  if (!isSame(known, head, stored)) return undefined;
  const findUnreferenced: FindUnreferenced = (ids) =>
    new Map(
      ids.flatMap((id): [string, KnownBlock][] => {
        const number = known.visible.get(id);
        return number === undefined ? [] : [[id, { number, milestone: null }]];
      }),
    );
  const referenced = found.slice(0, blocks.length).flat().map(knownBlock);
  return {
    head,
    size: known.visible.size + known.staged.size,
    stored,
    named: new Map([...findUnreferenced(named), ...referenced]),
    findUnreferenced,
    stagedNumber: (id) => known.staged.get(id),
    last: { visible: lastPack(visible!), staged: lastPack(staged!) },
    numbering: numberWith(known, outputs, found.slice(blocks.length).flat()),
  };
}

function lastPack([row]: readonly Record<string, unknown>[]): LastPack | undefined {
  if (row === undefined) return undefined;
  const { key, blocks, length, sums } = row;
  return {
    key: Number(key),
    blocks: Number(blocks),
    length: Number(length),
    sums: readChecksums(String(sums)),
  };
}

function numberWith(
  known: Loaded,
  { mentioned }: OutputsToFind,
  rows: readonly Record<string, unknown>[],
): Omit<Numbering, 'blocks'> {
  const { nextBlock } = known;
  let { nextOutput } = known;
  const outputs = new Map<string, KnownOutput>();
  for (const id of mentioned) {
    const number = known.outputs.get(id);
    if (number !== undefined) outputs.set(id, { number });
  }
  const found = knownOutputs(rows, (id) => outputs.get(id)?.number ?? nextOutput++);
  for (const [id, output] of found) outputs.set(id, output);
  return { outputs, nextBlock, nextOutput };
}
