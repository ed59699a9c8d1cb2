/**
 * Packs, page by page, to the blocks that a white-flag walk may meet and the states of what they
 * consume (consistent-view.ts).
 */
import { renumberOutputs } from '../../stardust/white-flag/block-record.ts';
import { type Cone, readCone } from '../../stardust/white-flag/cone.ts';
import { NumberMap } from '../../stardust/white-flag/number-map.ts';
import { LedgerState } from '../../stardust/white-flag/walk.ts';
import {
  readStates,
  requireOutputSum,
  type WalkedPack,
  walkedPacksFromRows,
} from '../core/packs.ts';
import type { Row } from '../core/read-batch.ts';
import type { ViewedPack } from './viewed-packs.ts';

interface ViewedPacks {
  cone: Cone;
  packs: ViewedPack[];
  /** By number, before the milestone. */
  states: NumberMap;
  /** Outputs by ID, where the blocks are of several milestones. */
  numberOf: Map<string, number> | undefined;
}

/** @param index of the milestone whose states before it are wanted */
export function createPackReader(index: number) {
  const states = new NumberMap();
  const packs: ViewedPack[] = [];
  const records: Uint8Array[] = [];
  let numberOf: Map<string, number> | undefined;
  let first = 0;

  /** One number for each output, whatever numbers it has in the packs. */
  function unify(mentions: string, pack: WalkedPack): (number: number) => number | undefined {
    numberOf ??= new Map();
    const own = new Map<number, number>();
    for (const [number, id, sum] of JSON.parse(mentions) as [number, string, number][]) {
      requireOutputSum(number, id, sum);
      const one = numberOf.get(id) ?? numberOf.size + 1;
      numberOf.set(id, one);
      own.set(number, one);
    }
    renumberOutputs(pack.records, (number) => own.get(number)!);
    return (number) => own.get(number);
  }

  return {
    get lastKey() {
      return Math.max(...packs.map(({ key }) => key));
    },
    add(rows: readonly Row[]): void {
      const page = walkedPacksFromRows(rows);
      records.push(page.records);
      for (const [i, pack] of page.packs.entries()) {
        const mentions = rows[i]!.textOrNull('mentions');
        const numberIn = mentions === null ? undefined : unify(mentions, pack);
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
