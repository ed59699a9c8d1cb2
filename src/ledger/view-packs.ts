/**
 * The packs of a view (consistent-view.ts): from their rows to the blocks that a walk may meet and
 * the states of what they consume.
 */
import { fromBase64Pieces } from '../stardust/bytes.ts';
import { renumberOutputs } from '../stardust/white-flag/block-record.ts';
import { type Cone, readCone } from '../stardust/white-flag/cone.ts';
import { NumberMap } from '../stardust/white-flag/number-map.ts';
import { LedgerState } from '../stardust/white-flag/walk.ts';
import { type Mention, readStates } from './packs.ts';

export interface ViewedPack {
  table: 'open' | 'pack';
  key: number;
  /** Bytes of its records. */
  length: number;
}

export interface ViewedPacks {
  cone: Cone;
  packs: ViewedPack[];
  /** By number, before the milestone. */
  states: NumberMap;
  /** Outputs by ID, where the packs are of several milestones. */
  numberOf: Map<string, number> | undefined;
}

/**
 * @param rows of the table's name, key, records, states and mentions; those of one milestone, or of
 *   the open packs, without mentions
 * @param index of the milestone whose states before it are wanted
 */
export function readPacks(rows: readonly Record<string, unknown>[], index: number): ViewedPacks {
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

interface ConePacks {
  cone: Cone;
  packs: readonly ViewedPack[];
}

/** The pack, by its place among the view's, that each block of the cone stands in, and where. */
export function placesOf({ cone, packs }: ConePacks): { pack: number; at: number }[] {
  const places: { pack: number; at: number }[] = [];
  let left = 0;
  let pack = -1;
  for (let position = 0, at = 0; position < cone.size; position++, at++) {
    while (left === 0) {
      left = packs[++pack]!.length;
      at = 0;
    }
    left -= cone.recordAt(position).length;
    places.push({ pack, at });
  }
  return places;
}

/**
 * The highest key of an open pack; only of a view of the ledger's next milestone, which has all.
 */
export function lastOpenPack({ packs }: Pick<ConePacks, 'packs'>): number | undefined {
  return packs.reduce<number | undefined>((last, { table, key }) => {
    return table === 'open' && key > (last ?? 0) ? key : last;
  }, undefined);
}
