/**
 * Stores blocks that no milestone references yet (docs/storage.md#storing-blocks). Blocks are
 * appended to the last pack, so that a halt of the network leaves few packs. Unproven blocks are
 * staged: stored for the milestone whose past cone they belong to, in packs that no request reads.
 */
import { toBase64 } from '../../stardust/encoding/base64.ts';
import { isUndecidedAt } from '../../stardust/white-flag/cone.ts';
import type { Database } from '../core/database.ts';
import { writeOutputBytes } from '../core/output-bytes.ts';
import type { Numbering } from '../intake/known-outputs.ts';
import type { PreparedBlock } from '../intake/prepare-blocks.ts';
import { packedListRow } from '../output-list/list-rows.ts';
import {
  type OutputRow,
  writeBlockRow,
  writeCreatedRow,
  writeOutputRow,
} from '../packs/id-rows.ts';
import type { LastPack } from '../packs/live-packs.ts';
import { requireSameUnreferenced } from '../packs/next-numbers.ts';
import {
  MAX_PACK_BLOCKS,
  MAX_PACK_LENGTH,
  type OutputState,
  splitIntoParts,
  writeStates,
  writeStatuses,
} from '../packs/pack-columns.ts';
import { readCone } from '../packs/record-cone.ts';
import { appendToPack, insertPack, type PackColumns } from '../packs/write-pack.ts';
import type { UnreferencedView } from './unreferenced-index.ts';

/** States by the numbers that outputs have here. */
function statesOf({ outputs }: Pick<Numbering, 'outputs'>): Map<number, OutputState> {
  const states = new Map<number, OutputState>();
  for (const { number, created, spent = 0 } of outputs.values())
    if (created !== undefined) states.set(number, { created, spent });
  return states;
}

/**
 * Makes statements that store the blocks, for one batch. They all fail if the unreferenced blocks
 * or the ledger are not those of the view any more.
 *
 * @param staged hex IDs of those of the blocks that requests must not see
 */
export function storeStatements(
  db: Database,
  view: UnreferencedView,
  blocks: readonly PreparedBlock[],
  staged: ReadonlySet<string>,
  numbering: Numbering,
): D1PreparedStatement[] {
  const states = statesOf(numbering);
  const { ledger } = view.head;
  const write = (isStaged: boolean, last: LastPack | undefined, milestone: number | null) => {
    const some = blocks.filter(({ id }) => staged.has(id) === isStaged);
    const columns = (part: readonly PreparedBlock[]) => columnsOf(part, states, ledger);
    const fitting = last === undefined ? 0 : countFitting(last, some);
    const appended = some.slice(0, fitting);
    return [
      ...(last !== undefined && fitting > 0
        ? appendToPack(db, last, columns(appended), numbering)
        : []),
      ...splitIntoParts(some.slice(fitting), lengthInPack).flatMap((part) =>
        insertPack(db, part[0]!.number, columns(part), numbering, milestone),
      ),
    ];
  };
  return [
    requireSameUnreferenced(db, view.head, view.stored),
    ...write(false, view.last.visible, null),
    ...write(true, view.last.staged, ledger + 1),
  ];
}

/** How many of the blocks, from the first one on, there is room for in the pack. */
function countFitting({ blocks: held, length: used }: LastPack, blocks: readonly PreparedBlock[]) {
  let length = used;
  const end = blocks.findIndex((block, i) => {
    length += lengthInPack(block);
    return held + i + 1 > MAX_PACK_BLOCKS || length > MAX_PACK_LENGTH;
  });
  return end < 0 ? blocks.length : end;
}

/** Characters that a block adds to its pack, at most. */
function lengthInPack({ bytes, record, consumed, created }: PreparedBlock): number {
  const contents = created.reduce((sum, output) => sum + output.bytes.length * 1.34 + 500, 0);
  return bytes.length * 1.34 + record.length * 1.34 + consumed.length * 190 + contents + 130;
}

function columnsOf(
  blocks: readonly PreparedBlock[],
  known: ReadonlyMap<number, OutputState>,
  ledger: number,
): PackColumns {
  const cone = readCone(blocks.map(({ record }) => record));
  const states = new Map<number, OutputState>();
  const unresolved = new Set<string>();
  for (const [at, { consumed }] of blocks.entries()) {
    for (const { number, id, isKnown } of consumed) {
      const state = known.get(number);
      if (state !== undefined) states.set(number, state);
      if (isUndecidedAt(cone, at) && !isKnown) unresolved.add(id);
    }
  }
  return {
    records: cone.bytes,
    statuses: writeStatuses(blocks.map(() => ({ milestone: 0, storedAt: ledger, reason: 0 }))),
    states: writeStates(states),
    blocks: JSON.stringify(blocks.map((b) => writeBlockRow(b.number, b.id, b.payload))),
    outputs: JSON.stringify(blocks.map(outputRows)),
    content: [
      JSON.stringify(blocks.map(({ bytes }) => toBase64(bytes))),
      contentOf(blocks, ({ bytes }) => writeOutputBytes(bytes)),
      contentOf(blocks, ({ output, id }) => packedListRow(output, id)),
    ],
    unresolved: [...unresolved],
  };
}

/** Rows in the order of the record's inputs and outputs. */
function outputRows({ consumed, created }: PreparedBlock): OutputRow[] {
  return [
    ...consumed.map(({ number, id }) => writeOutputRow(number, id)),
    ...created.map(({ number, id, chain }) => writeCreatedRow(number, id, chain ?? null)),
  ];
}

/** JSON of what is kept of the outputs that the blocks create, at the places of their rows. */
function contentOf(
  blocks: readonly PreparedBlock[],
  keep: (output: PreparedBlock['created'][number]) => unknown,
): string {
  return JSON.stringify(
    blocks.map(({ consumed, created }) => [...consumed.map(() => null), ...created.map(keep)]),
  );
}
