/**
 * What a milestone does to the ledger, by the numbers that blocks and outputs have in the packs
 * (docs/protocol.md, E.5).
 */
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import { type Cone, inputsAt, outputsAt } from '../../stardust/white-flag/cone.ts';
import { NumberMap } from '../../stardust/white-flag/number-map.ts';
import { NOT_A_TRANSACTION, type WhiteFlag } from '../../stardust/white-flag/walk.ts';
import { type Milestone, receiptOf } from '../../stardust/wire/milestone.ts';
import { type MigratedOutput, migratedOutputs } from '../../stardust/wire/receipt.ts';
import type { Database } from '../core/database.ts';
import { NO_REASON } from '../core/packs.ts';
import { readQuery } from '../core/read-batch.ts';
import { findMentioned, numbersMentioned } from '../intake/known-outputs.ts';
import type { ConsistentView } from '../view/consistent-view.ts';
import { isUnreferencedIn, packAt, type ViewedPack } from '../view/viewed-packs.ts';
import type { OutputChanges, OutputPlace, SpentPlace } from './output-changes.ts';

export interface VerifiedMilestone {
  milestone: Milestone;
  /** 32 bytes. */
  id: Uint8Array;
  /** The payload as received. */
  payload: Uint8Array;
}

export interface MilestoneChanges extends OutputChanges {
  /** Positions in the view's cone of the blocks that the milestone references, in order. */
  order: Uint32Array;
  /** By position, the conflict reason plus one of a block that the milestone references; else 0. */
  reasons: Uint8Array;
  /** Outputs that come into the ledger or leave it, by number. */
  changed: Changed;
}

interface Changed {
  /** Numbers of outputs that the milestone creates, or that its receipt brings. */
  created: NumberMap;
  spent: NumberMap;
}

/**
 * @param decided the view's cone with all verdicts that count, and the outcome of the walk over it
 */
export async function listChanges(
  db: Database,
  verified: VerifiedMilestone,
  view: ConsistentView,
  { cone, whiteFlag }: { cone: Cone; whiteFlag: WhiteFlag },
): Promise<MilestoneChanges> {
  const order = new Uint32Array(whiteFlag.order.length);
  const reasons = new Uint8Array(view.cone.size);
  /** Position of the block that creates or spends an output. */
  const created = new NumberMap();
  const spent = new NumberMap();
  const spending: { output: number; by: number; i: number }[] = [];
  const creating: { output: number; by: number; i: number }[] = [];
  for (const [i, decidedAt] of whiteFlag.order.entries()) {
    // a verdict that was made for the walk has another position than the stored record
    const position = view.cone.find(cone.numberAt(decidedAt));
    const reason = whiteFlag.reasons[i]!;
    order[i] = position;
    reasons[position] = 1 + (reason === NOT_A_TRANSACTION ? NO_REASON : reason);
    if (reason !== 0) continue;
    const inputs = inputsAt(cone, decidedAt);
    for (const [at, output] of outputsAt(cone, decidedAt).entries()) {
      created.set(output, creating.length);
      creating.push({ output, by: position, i: inputs.length + at });
    }
    for (const [at, output] of inputs.entries()) {
      spent.set(output, position);
      spending.push({ output, by: position, i: at });
    }
  }
  const placeOf = createPlaces(view.packs);
  const spentPlaces = spending.map(({ output, by, i }): SpentPlace => {
    const made = inputsAt(view.cone, by).length;
    const creator = created.get(output);
    const from = creator === undefined ? undefined : creating[creator];
    return { by: placeOf(by, i), made, from: from && placeOf(from.by, from.i) };
  });
  const createdPlaces = creating
    .filter(({ output }) => !spent.has(output))
    .map(({ by, i }) => placeOf(by, i));
  const receipt = receiptOf(verified.milestone);
  const migrated = receipt ? migratedOutputs(receipt, verified.id) : [];
  for (const number of await numbersOfMigrated(db, migrated, view)) created.set(number, 0);
  return {
    order,
    reasons,
    changed: { created, spent },
    spent: spentPlaces,
    created: createdPlaces,
    migrated,
  };
}

/**
 * Of those that unreferenced blocks mention already: whoever knows the milestone can spend them.
 */
async function numbersOfMigrated(
  db: Database,
  migrated: readonly MigratedOutput[],
  { packs }: ConsistentView,
): Promise<Iterable<number>> {
  const ids = migrated.map(({ id }) => toHexDigits(id));
  const found = await readQuery(db, findMentioned(db, ids));
  return numbersMentioned(found, isUnreferencedIn(packs)).values();
}

/** Tells the place of an output, given the position of a block and a place among its outputs. */
function createPlaces(packs: readonly ViewedPack[]): (position: number, i: number) => OutputPlace {
  return (position, i) => {
    const { key, first } = packs[packAt(packs, position)]!;
    return [key, position - first, i];
  };
}
