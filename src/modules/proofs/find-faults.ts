/**
 * Explains why transactions of a cone are in conflict (docs/protocol.md, D.2): records keep only
 * the reasons, so each verdict is made again, with its cause.
 */
import { LedgerDamaged } from '../../ledger/core/checksum.ts';
import type { Database } from '../../ledger/core/database.ts';
import { concat, readQuery } from '../../ledger/core/read-batch.ts';
import {
  type FoundOutput,
  findLedgerOutputs,
  knownOutputs,
} from '../../ledger/intake/known-outputs.ts';
import { contentsConsumed, outputsToFind, readJudged } from '../../ledger/intake/prepare-blocks.ts';
import { findMentioned } from '../../ledger/packs/live-packs.ts';
import type { RecordCone } from '../../ledger/packs/record-cone.ts';
import { readBlocks } from '../../ledger/view/cone-blocks.ts';
import type { ConsistentView } from '../../ledger/view/consistent-view.ts';
import { verifySignature } from '../../platform/verify-signature.ts';
import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import { findFault } from '../../stardust/semantics/judge.ts';
import { ConflictReason, type Fault } from '../../stardust/semantics/verdict.ts';
import { inputsAt, outputsAt } from '../../stardust/white-flag/cone.ts';
import { isOfLedger } from '../../stardust/white-flag/deciding-input.ts';
import { NOT_A_TRANSACTION } from '../../stardust/white-flag/walk.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';
import { outputBytes, outputId } from '../../stardust/wire/ids.ts';

/** A transaction in conflict whose reason is to be explained. */
export interface BlockAtFault {
  position: number;
  block: ParsedBlock;
  reason: number;
}

/**
 * Finds the causes for these transactions, for each of which a rule of D.2 decided, in order.
 *
 * @param timestamp the milestone's, unix seconds
 * @returns rejects with a LedgerDamaged if an output that one of them consumes is not there, or if
 * the verdict made now is another one
 */
export async function findFaults(
  db: Database,
  view: ConsistentView,
  judged: readonly BlockAtFault[],
  timestamp: number,
): Promise<Fault[]> {
  const blocks = judged.map(({ block }) => block);
  const contents = await readContents(db, blocks);
  if (blocks.some(({ transaction }) => contentsConsumed(transaction!, contents) === undefined)) {
    const positions = judged.map(({ position }) => position);
    const producers = producersOf(view.cone, positions);
    const blockAt = await readBlocks(db, view, producers);
    const made = contentsCreated(producers.map((_, i) => blockAt(i)));
    for (const [id, content] of made) contents.set(id, content);
  }
  const faults: Fault[] = [];
  for (const { block, reason } of judged) {
    const { id, transaction } = block;
    const consumed = contentsConsumed(transaction!, contents);
    if (consumed === undefined)
      throw new LedgerDamaged(`outputs that block ${toHexDigits(id)} consumes`);
    const { tx, outputs } = await readJudged(transaction!, consumed, verifySignature);
    const fault = findFault(tx, outputs, timestamp);
    if (fault === undefined || fault.reason !== reason) {
      const other = `${reason} was stored, ${fault?.reason ?? 0} is found`;
      throw new LedgerDamaged(`verdicts on block ${toHexDigits(id)} (${other})`);
    }
    faults.push(fault);
  }
  return faults;
}

/** Whether a rule of D.2 is the reason, and not the state of an input. */
export function isOfVerdict(reason: number): boolean {
  return reason !== ConflictReason.None && reason !== NOT_A_TRANSACTION && !isOfLedger(reason);
}

/**
 * Finds the blocks of the cone that create what these transactions consume, by number. The content
 * of what a block in conflict creates is only in its bytes. Blocks that earlier milestones
 * reference are left out: what they created is in the ledger.
 */
function producersOf(cone: RecordCone, positions: readonly number[]): number[] {
  const wanted = new Set(positions.flatMap((position) => inputsAt(cone, position)));
  const producers = new Set<number>();
  for (let position = 0; position < cone.size; position++) {
    const number = cone.numberAt(position);
    if (cone.find(number) !== position) continue;
    // one block for each output: a transaction may be in many
    for (const output of outputsAt(cone, position))
      if (wanted.delete(output)) producers.add(number);
  }
  return [...producers];
}

/** Collects what the blocks' transactions create, by hex ID. */
function contentsCreated(blocks: readonly ParsedBlock[]): Map<string, { bytes: Uint8Array }> {
  return new Map(
    blocks.flatMap(({ transaction }) =>
      (transaction?.value.essence.outputs ?? []).map((output, i) => {
        const id = toHexDigits(outputId(transaction!.id, i));
        return [id, { bytes: outputBytes(output) }] as const;
      }),
    ),
  );
}

/** Reads what the blocks' transactions consume, at any time: IDs fix contents. */
async function readContents(
  db: Database,
  blocks: readonly ParsedBlock[],
): Promise<Map<string, { bytes?: Uint8Array }>> {
  const { consumed } = outputsToFind(blocks);
  const query = concat<FoundOutput>(findMentioned(db, consumed), findLedgerOutputs(db, consumed));
  return knownOutputs(await readQuery(db, query), () => 0);
}
