/** Changes of the ledger by a milestone, by numbers in the packs (docs/protocol.md, E.5). */
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import { inputsAt, outputsAt } from '../../stardust/white-flag/cone.ts';
import { NOT_A_TRANSACTION, type WhiteFlag } from '../../stardust/white-flag/walk.ts';
import { type Milestone, receiptOf } from '../../stardust/wire/milestone.ts';
import { type MigratedOutput, migratedOutputs } from '../../stardust/wire/receipt.ts';
import type { Database } from '../core/database.ts';
import { readQuery } from '../core/read-batch.ts';
import { findMentioned } from '../packs/live-packs.ts';
import { NumberMap } from '../packs/number-map.ts';
import { NO_REASON } from '../packs/pack-columns.ts';
import { packAt } from '../packs/viewed-packs.ts';
import type { ConsistentView } from '../view/consistent-view.ts';
import type { OutputChanges } from './output-changes.ts';

export interface VerifiedMilestone {
  milestone: Milestone;
  id: Uint8Array;
  payload: Uint8Array;
}

export interface MilestoneChanges extends OutputChanges {
  /** Positions in the view's cone of the blocks that the milestone references, in order. */
  order: Uint32Array;
  /** Conflict reason plus one, by position, of blocks that the milestone references; else 0. */
  reasons: Uint8Array;
  /** Outputs that come into the ledger or leave it, by number. */
  changed: Changed;
}

interface Changed {
  /** Numbers of outputs that the milestone creates, or that its receipt brings. */
  created: NumberMap;
  spent: NumberMap;
}

/** @param whiteFlag the outcome of the walk over the view's cone, with all verdicts */
export async function listChanges(
  db: Database,
  verified: VerifiedMilestone,
  view: ConsistentView,
  whiteFlag: WhiteFlag,
): Promise<MilestoneChanges> {
  const { order } = whiteFlag;
  const reasons = new Uint8Array(view.cone.size);
  const applied: number[] = [];
  for (const [i, position] of order.entries()) {
    const reason = whiteFlag.reasons[i]!;
    reasons[position] = 1 + (reason === NOT_A_TRANSACTION ? NO_REASON : reason);
    if (reason === 0) applied.push(position);
  }
  const outputs = listOutputs(view, applied);
  const { created } = outputs.changed;
  const migrated = migratedOutputs(receiptOf(verified.milestone), verified.id);
  for (const number of await numbersOfMigrated(db, migrated, view)) created.set(number, 0);
  return { order, reasons, migrated, ...outputs };
}

/** Finds migrated outputs that unreferenced blocks mention: anybody can spend them. */
async function numbersOfMigrated(
  db: Database,
  migrated: readonly MigratedOutput[],
  { packs }: ConsistentView,
): Promise<number[]> {
  const ids = migrated.map(({ id }) => toHexDigits(id));
  const found = await readQuery(db, findMentioned(db, ids));
  const statusesOf = new Map(packs.map(({ key, statuses }) => [key, statuses]));
  return found.flatMap(({ mention: { key, at, number } }) => {
    const statuses = statusesOf.get(key);
    const isUnreferenced = statuses && at < statuses.size && statuses.milestoneAt(at) === 0;
    return isUnreferenced ? [number] : [];
  });
}

/**
 * Lists what transactions create and spend, in typed arrays: there may be a million inputs and
 * outputs.
 *
 * @param applied positions of blocks whose transactions are applied, in their order
 */
function listOutputs(
  { cone, packs }: Pick<ConsistentView, 'cone' | 'packs'>,
  applied: readonly number[],
): Pick<MilestoneChanges, 'changed' | 'spent' | 'createdAll' | 'created'> {
  const created = new NumberMap();
  const spent = new NumberMap();
  const creating = createUses();
  const spending = createUses();
  for (const position of applied) {
    const inputs = inputsAt(cone, position);
    for (const [at, output] of outputsAt(cone, position).entries())
      created.set(output, creating.add(output, position, inputs.length + at));
    for (const [at, output] of inputs.entries())
      spent.set(output, spending.add(output, position, at));
  }
  const kept = new Uint32Array(creating.size()).map((_, index) => index);
  const unspent = kept.filter((index) => !spent.has(creating.outputAt(index)));
  const placeOf = (position: number, i: number) => {
    const { key, first } = packAt(packs, position);
    return [key, position - first, i] as const;
  };
  const placeCreated = (index: number) => placeOf(creating.positionAt(index), creating.iAt(index));
  return {
    changed: { created, spent },
    spent: {
      length: spending.size(),
      rowAt(index) {
        const by = spending.positionAt(index);
        const made = cone.transactionAt(by).inputCount;
        const creator = created.get(spending.outputAt(index));
        const from = creator === undefined ? [null, null, null] : placeCreated(creator);
        return [...placeOf(by, spending.iAt(index)), made, ...from];
      },
    },
    createdAll: { length: kept.length, rowAt: placeCreated },
    created: { length: unspent.length, rowAt: (index) => placeCreated(unspent[index]!) },
  };
}

/** Uses for which there is room at first. */
const FIRST_USES = 1024;

/** Uses of outputs: the position of the block, and the place among its outputs. */
function createUses() {
  let outputs = new Float64Array(FIRST_USES);
  let positions = new Uint32Array(FIRST_USES);
  let places = new Uint16Array(FIRST_USES);
  let size = 0;
  return {
    add(output: number, position: number, i: number): number {
      if (size === outputs.length) {
        outputs = grown(outputs, new Float64Array(2 * size));
        positions = grown(positions, new Uint32Array(2 * size));
        places = grown(places, new Uint16Array(2 * size));
      }
      outputs[size] = output;
      positions[size] = position;
      places[size] = i;
      return size++;
    },
    size: () => size,
    outputAt: (index: number) => outputs[index]!,
    positionAt: (index: number) => positions[index]!,
    iAt: (index: number) => places[index]!,
  };
}

function grown<T extends { set(from: T): void }>(before: T, after: T): T {
  after.set(before);
  return after;
}
