/**
 * Packs, page by page, to the blocks that a white-flag walk may meet and the states of what they
 * consume (consistent-view.ts).
 *
 * A pack's note of an output is kept up to date while one of its unreferenced blocks consumes the
 * output, and no longer. So it is true before milestone m if a block of the same pack consumes the
 * output, by the same number, that no milestone before m references. Other notes are not read. A
 * walk for m meets such blocks only, so each output that it looks up has true notes.
 */
import { LedgerState } from '../../stardust/white-flag/walk.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import type { Row } from '../core/read-batch.ts';
import { renumberOutputs, visitInputs } from '../packs/block-record.ts';
import type { NextNumbers } from '../packs/next-numbers.ts';
import { NumberMap } from '../packs/number-map.ts';
import { requireOutputSum } from '../packs/output-rows.ts';
import { readStates, type WalkedPack, walkedPacksFromRows } from '../packs/pack-columns.ts';
import { type RecordCone, readCone } from '../packs/record-cone.ts';
import type { ViewedPack } from '../packs/viewed-packs.ts';

/** A pack's number of an output to the view's. */
type NumberIn = (own: number) => number;

/** Beside the values of LedgerState. */
const LACKING = 0;

interface ViewedPacks {
  cone: RecordCone;
  packs: ViewedPack[];
  /** By number, before the milestone. */
  states: NumberMap;
}

/**
 * @param index of the milestone whose states before it are wanted
 * @param next what was free when the first page was read: blocks with numbers from `nextBlock` on
 *   were stored later, and are left out
 */
export function createPackReader(index: number, { nextBlock, nextOutput }: NextNumbers) {
  const states = new NumberMap();
  /** Outputs that the ledger did not hold before the milestone, by the notes of a pack. */
  const lacking = new NumberMap();
  const packs: ViewedPack[] = [];
  const records: Uint8Array[] = [];
  /** By ID, where the blocks are of several milestones. */
  const numberOf = new Map<string, number>();
  let first = 0;

  /** One number for each output, whatever numbers it has in the packs. */
  function unify(mentions: string, pack: WalkedPack): NumberIn {
    const own = new Map<number, number>();
    for (const [number, id, sum] of JSON.parse(mentions) as [number, string, number][]) {
      requireOutputSum(number, id, sum);
      const one = numberOf.get(id) ?? numberOf.size + 1;
      numberOf.set(id, one);
      own.set(number, one);
    }
    renumberOutputs(pack.records, (number) => own.get(number)!);
    return (number) => own.get(number)!;
  }

  /** Whether the walk must not meet the block at this place of a pack. */
  function isExcluded({ statuses }: Pick<WalkedPack, 'statuses'>, place: number, block: number) {
    const milestone = statuses.milestoneAt(place);
    return (milestone !== 0 && milestone < index) || block >= nextBlock;
  }

  /**
   * Notes the states of what the walk may look up in this pack. Packs agree on them: only that an
   * output was spent is unknown to a block that came when its ID was forgotten.
   */
  function noteStates(consumed: Map<number, number>, pack: WalkedPack, numberIn: NumberIn): void {
    readStates(pack.states, (own, created, spent) => {
      if (created >= index || !consumed.has(own)) return;
      consumed.set(own, spent > 0 && spent < index ? LedgerState.Spent : LedgerState.Unspent);
    });
    for (const [own, state] of consumed) {
      const number = numberIn(own);
      const other = states.get(number);
      if (state === LACKING) lacking.set(number, LACKING);
      else states.set(number, state);
      const isContradicted =
        state === LedgerState.Unspent
          ? other === LedgerState.Spent || lacking.has(number)
          : other === LedgerState.Unspent;
      if (isContradicted) throw new LedgerDamaged(`states of outputs in pack ${pack.key}`);
    }
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
        // by their own numbers: of two numbers of one output one may have notes that are too old
        const consumed = new Map<number, number>();
        visitInputs(
          pack.records,
          (place, block) => isExcluded(pack, place, block),
          (output) => {
            if (output >= nextOutput) throw new LedgerDamaged(`records of pack ${pack.key}`);
            consumed.set(output, LACKING);
          },
        );
        noteStates(consumed, pack, mentions === null ? (own) => own : unify(mentions, pack));
        const { records: _, ...rest } = pack;
        packs.push({ ...rest, first });
        first += pack.statuses.size;
      }
    },
    finish(): ViewedPacks {
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
      return { cone, packs, states };
    },
  };
}
