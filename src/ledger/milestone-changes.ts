/**
 * What a milestone does to the ledger, by the numbers that outputs have among the open blocks
 * (docs/protocol.md, E.5).
 */
import { toHexDigits } from '../stardust/bytes.ts';
import { type Milestone, receiptOf } from '../stardust/milestone.ts';
import { type MigratedOutput, migratedOutputs } from '../stardust/receipt.ts';
import { decodeRecord, encodeRecord } from '../stardust/white-flag/block-record.ts';
import { type Cone, inputsAt, outputsAt } from '../stardust/white-flag/cone.ts';
import { NOT_A_TRANSACTION, type WhiteFlag } from '../stardust/white-flag/walk.ts';
import { type Database, forEachPiece, runBatch } from './database.ts';
import { FIND_OPEN, type Numbering } from './known-outputs.ts';

export interface VerifiedMilestone {
  milestone: Milestone;
  /** 32 bytes. */
  id: Uint8Array;
  /** The payload as received. */
  payload: Uint8Array;
}

/** A block that the milestone references. */
export interface ReferencedBlock {
  number: number;
  /** In the cone. */
  position: number;
  /** Of a transaction: 0 where it is applied. Undefined for the other blocks. */
  reason: number | undefined;
}

export interface MilestoneChanges {
  /** In white-flag order. */
  referenced: ReferencedBlock[];
  /** Block number by output number. What is consumed again within the milestone stands in both. */
  created: Map<number, number>;
  spent: Map<number, number>;
  /** Outputs that a receipt brings, by hex ID. */
  migrated: Map<string, MigratedOutput>;
  /** Numbers of those that open blocks mention already: whoever knows the milestone can. */
  migratedNumbers: Set<number>;
}

export async function listChanges(
  db: Database,
  verified: VerifiedMilestone,
  { cone, whiteFlag }: { cone: Cone; whiteFlag: WhiteFlag },
  numbering: Numbering,
): Promise<MilestoneChanges> {
  const created = new Map<number, number>();
  const spent = new Map<number, number>();
  const referenced = Array.from(whiteFlag.order, (position, i): ReferencedBlock => {
    const number = cone.numberAt(position);
    const reason = whiteFlag.reasons[i]!;
    if (reason === 0) {
      for (const output of outputsAt(cone, position)) created.set(output, number);
      for (const output of inputsAt(cone, position)) spent.set(output, number);
    }
    return { number, position, reason: reason === NOT_A_TRANSACTION ? undefined : reason };
  });
  const receipt = receiptOf(verified.milestone);
  const outputs = receipt ? migratedOutputs(receipt, verified.id) : [];
  const migrated = new Map(outputs.map((output) => [toHexDigits(output.id), output]));
  const mentioned = await runBatch(db, forEachPiece(db, FIND_OPEN, [...migrated.keys()]));
  const migratedNumbers = new Set(mentioned.flat().map(({ number }) => Number(number)));
  for (const id of migrated.keys()) {
    const known = numbering.outputs.get(id);
    if (known !== undefined) migratedNumbers.add(known.number);
  }
  return { referenced, created, spent, migrated, migratedNumbers };
}

/**
 * The record without the mark of an inadmissible block: roots that are right show that the network
 * admitted it, under parameters that we do not know.
 */
export function admittedRecord(cone: Cone, position: number): Uint8Array {
  const record = cone.recordAt(position);
  if (!cone.inadmissibleAt(position)) return record;
  return encodeRecord({ ...decodeRecord(record), inadmissible: false });
}

/** Whether the milestone brings the output or takes it away. */
export function isChanged(changes: MilestoneChanges, output: number): boolean {
  const { created, spent, migratedNumbers } = changes;
  return created.has(output) || spent.has(output) || migratedNumbers.has(output);
}
