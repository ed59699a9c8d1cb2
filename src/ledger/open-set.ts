/**
 * What the follower remembers of the open blocks: their IDs and numbers, and the outputs that they
 * mention. It stores blocks each second; with this it need not read all open packs each time.
 *
 * What is remembered is what D1 has as long as the ledger's generation and index, the number of
 * times that blocks were dropped, and the highest key of an open pack are the same: each change of
 * the open blocks changes one of these. They are read in the batch that looks up everything else,
 * and the write is fenced on them (open-packs.ts). Where they differ, all is read anew, which is
 * little after a milestone.
 */
import { fromBase64 } from '../stardust/bytes.ts';
import { type ConsistentView, MAX_PACKS_TO_FOLLOW, readView } from './consistent-view.ts';
import { type Database, runBatch } from './database.ts';
import { LedgerMoved } from './fence.ts';
import { type Head, headFromRow, SELECT_HEAD } from './head.ts';
import {
  type FindOpen,
  findInCone,
  findReferenced,
  type KnownBlock,
  knownBlock,
} from './known-blocks.ts';
import {
  findLedgerOutputs,
  type KnownOutput,
  knownOutputs,
  type Numbering,
  type OutputsToFind,
} from './known-outputs.ts';
import type { BlockRow, NextNumbers, OutputRow } from './open-packs.ts';
import type { PreparedBlock } from './prepare-blocks.ts';
import { lastOpenPack } from './viewed-packs.ts';

/** The open blocks, and what is known of others, all of one moment. */
export interface OpenView {
  head: Head;
  /** Open blocks. */
  size: number;
  /** The highest key of an open pack; undefined where nothing is open. */
  last: number | undefined;
  /** The named blocks that are known, by hex ID. */
  named: ReadonlyMap<string, KnownBlock>;
  findOpen: FindOpen;
  /** Of the outputs that were to be found, and what is free. */
  numbering: Omit<Numbering, 'blocks'>;
}

export interface OpenSet {
  /**
   * Reads what is known of blocks and outputs. Throws a LedgerMoved where an import has replaced the
   * ledger, or where the open blocks change again and again.
   *
   * @param head as it was read last; the ledger may be beyond it by now
   * @param named hex IDs of blocks
   */
  view(
    db: Database,
    head: Pick<Head, 'generation' | 'ledger'>,
    named: readonly string[],
    outputs?: OutputsToFind,
  ): Promise<OpenView>;
  /** Notes what was stored behind that view, and the highest key from then on. */
  stored(view: OpenView, blocks: readonly PreparedBlock[], next: NextNumbers, last: number): void;
  /** Lets go of what is remembered: whoever needs it reads it anew. */
  forget(): void;
}

/** An output that open blocks mention; base64 bytes where one of them creates it. */
interface OpenOutput {
  number: number;
  bytes: string | null;
}

interface Remembered extends NextNumbers {
  generation: string;
  ledger: number;
  dropped: number;
  last: number | undefined;
  /** Numbers by hex ID. */
  blocks: Map<string, number>;
  /** By hex ID. */
  outputs: Map<string, OpenOutput>;
  heapBytes: number;
}

/** Heap of an entry of each map, measured, without the output's bytes. */
const HEAP_OF_BLOCK_BYTES = 150;
const HEAP_OF_OUTPUT_BYTES = 230;

const SELECT_LAST = 'SELECT max(key) AS last FROM open';
const SELECT_OPEN = 'SELECT next_block, next_output, blocks, outputs FROM open';

const NO_OUTPUTS: OutputsToFind = { mentioned: [], consumed: [] };

/** @param maxHeapBytes with more to remember all is read each time instead */
export function createOpenSet(maxHeapBytes: number): OpenSet {
  let held: Remembered | undefined;

  async function load(db: Database): Promise<void> {
    const [heads, lasts, rows] = await runBatch(db, [
      db.prepare(SELECT_HEAD).bind(null),
      db.prepare(SELECT_LAST),
      db.prepare(SELECT_OPEN),
    ]);
    if (heads![0] === undefined) throw new LedgerMoved('there is no ledger any more');
    held = remember(headFromRow(heads![0]), lastOf(lasts!), rows!);
  }

  return {
    async view(db, before, named, outputs = NO_OUTPUTS) {
      for (let tries = 0; tries < 3; tries++) {
        if (held === undefined) await load(db);
        const known = held!;
        if (known.heapBytes > maxHeapBytes) {
          held = undefined;
          return readAll(db, before, named, outputs);
        }
        const others = named.filter((id) => !known.blocks.has(id));
        const blocks = findReferenced(db, others);
        const [heads, lasts, ...found] = await runBatch(db, [
          db.prepare(SELECT_HEAD).bind(null),
          db.prepare(SELECT_LAST),
          ...blocks,
          ...findLedgerOutputs(db, outputs.consumed),
        ]);
        const head = heads![0] && headFromRow(heads![0]);
        if (head?.generation !== before.generation)
          throw new LedgerMoved('the ledger was replaced');
        if (isSame(known, head, lastOf(lasts!))) {
          const referenced = found.slice(0, blocks.length).flat().map(knownBlock);
          return viewOf(known, head, named, referenced, {
            outputs,
            rows: found.slice(blocks.length).flat(),
          });
        }
        held = undefined;
      }
      throw new LedgerMoved('the open blocks change again and again');
    },
    stored(view, blocks, { nextBlock, nextOutput }, last) {
      if (held === undefined || !isSame(held, view.head, view.last)) return;
      for (const { id, number, consumed, created } of blocks) {
        rememberBlock(held, id, number);
        for (const output of consumed) rememberOutput(held, output.id, output.number, null);
        for (const output of created)
          rememberOutput(held, output.id, output.number, output.bytes.toBase64());
      }
      Object.assign(held, { nextBlock, nextOutput, last });
    },
    forget() {
      held = undefined;
    },
  };
}

function lastOf([row]: readonly Record<string, unknown>[]): number | undefined {
  return row?.last == null ? undefined : Number(row.last);
}

function isSame(known: Remembered, head: Head, last: number | undefined): boolean {
  const { generation, ledger, dropped } = known;
  return (
    generation === head.generation &&
    ledger === head.ledger &&
    dropped === head.dropped &&
    last === known.last
  );
}

function remember(
  { generation, ledger, dropped, nextBlock, nextOutput }: Head,
  last: number | undefined,
  rows: readonly Record<string, unknown>[],
): Remembered {
  const known: Remembered = {
    generation,
    ledger,
    dropped,
    last,
    nextBlock: Math.max(nextBlock, ...rows.map((row) => Number(row.next_block))),
    nextOutput: Math.max(nextOutput, ...rows.map((row) => Number(row.next_output))),
    blocks: new Map(),
    outputs: new Map(),
    heapBytes: 0,
  };
  for (const row of rows) {
    for (const [number, id] of JSON.parse(String(row.blocks)) as BlockRow[])
      rememberBlock(known, id, number);
    for (const [number, id, bytes] of JSON.parse(String(row.outputs)) as OutputRow[])
      rememberOutput(known, id, number, bytes);
  }
  return known;
}

function rememberBlock(known: Remembered, id: string, number: number): void {
  known.blocks.set(id, number);
  known.heapBytes += HEAP_OF_BLOCK_BYTES;
}

function rememberOutput(known: Remembered, id: string, number: number, bytes: string | null): void {
  const output = known.outputs.get(id);
  if (output !== undefined && (bytes === null || output.bytes !== null)) return;
  known.outputs.set(id, { number, bytes });
  known.heapBytes += (output === undefined ? HEAP_OF_OUTPUT_BYTES : 0) + (bytes?.length ?? 0);
}

function viewOf(
  known: Remembered,
  head: Head,
  named: readonly string[],
  referenced: readonly [id: string, block: KnownBlock][],
  { outputs, rows }: { outputs: OutputsToFind; rows: readonly Record<string, unknown>[] },
): OpenView {
  const { nextBlock } = known;
  let { nextOutput } = known;
  const findOpen: FindOpen = (ids) =>
    new Map(
      ids.flatMap((id): [string, KnownBlock][] => {
        const number = known.blocks.get(id);
        return number === undefined ? [] : [[id, { number, milestone: null }]];
      }),
    );
  const found = new Map<string, KnownOutput>();
  for (const id of outputs.mentioned) {
    const open = known.outputs.get(id);
    if (open === undefined) continue;
    const { number, bytes } = open;
    found.set(id, { number, ...(bytes !== null && { bytes: fromBase64(bytes) }) });
  }
  const inLedger = knownOutputs(rows, (id) => found.get(id)?.number ?? nextOutput++);
  for (const [id, output] of inLedger) found.set(id, { ...found.get(id), ...output });
  return {
    head,
    size: known.blocks.size,
    last: known.last,
    named: new Map([...findOpen(named), ...referenced]),
    findOpen,
    numbering: { outputs: found, nextBlock, nextOutput },
  };
}

/** The same from all that is stored. */
async function readAll(
  db: Database,
  before: Pick<Head, 'generation' | 'ledger'>,
  named: readonly string[],
  outputs: OutputsToFind,
): Promise<OpenView> {
  const view = await viewNext(db, before, named, outputs);
  const { head, cone, numbering } = view;
  return {
    head,
    size: cone.size,
    last: lastOpenPack(view),
    named: view.named,
    findOpen: (ids) => findInCone(cone, ids),
    numbering,
  };
}

/** The view of the milestone after the ledger's, wherever that stands by then. */
async function viewNext(
  db: Database,
  { generation, ledger }: Pick<Head, 'generation' | 'ledger'>,
  named: readonly string[],
  outputs: OutputsToFind,
): Promise<ConsistentView> {
  for (let index = ledger + 1; ; ) {
    const request = { index, named, outputs, maxPacks: MAX_PACKS_TO_FOLLOW };
    const view = await readView(db, request);
    if (view?.head.generation !== generation) throw new LedgerMoved('the ledger was replaced');
    if (view.head.ledger + 1 === index) return view;
    index = view.head.ledger + 1;
  }
}
