/**
 * Why transactions of a cone are in conflict (docs/protocol.md, D.2). Records keep the reasons
 * only, so each verdict is made again, with what decided it.
 */

import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import { findFault } from '../../stardust/semantics/judge.ts';
import { ConflictReason, type Fault } from '../../stardust/semantics/verdict.ts';
import { isOfLedger } from '../../stardust/white-flag/deciding-input.ts';
import { NOT_A_TRANSACTION } from '../../stardust/white-flag/walk.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';
import { verifySignature } from '../../verify-signature.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { contentsConsumed, readJudged } from '../intake/prepare-blocks.ts';
import type { RecordCone } from '../record/read-cone.ts';
import type { LoadedCone } from './consistent-view.ts';
import { contentsCreated, producersOf, readBlocks, readContents } from './decide-verdicts.ts';

/** A transaction in conflict whose reason is to be explained. */
export interface BlockAtFault {
  /** Position in the cone. */
  position: number;
  block: ParsedBlock;
  /** The walk's. */
  reason: number;
}

/**
 * What decided on these transactions, for each of which a rule of D.2 did, in their order.
 *
 * @param cone of the view, with all verdicts
 * @param timestamp the milestone's, unix seconds
 * @returns rejects with a LedgerDamaged where an output that one of them consumes is not there, or
 *   where the verdict made now is another one
 */
export async function findFaults(
  db: Database,
  loaded: LoadedCone,
  cone: RecordCone,
  judged: readonly BlockAtFault[],
  timestamp: number,
): Promise<Fault[]> {
  const blocks = judged.map(({ block }) => block);
  const contents = await readContents(db, blocks);
  if (blocks.some(({ transaction }) => contentsConsumed(transaction!, contents) === undefined)) {
    const positions = judged.map(({ position }) => position);
    const producers = await readBlocks(db, loaded, producersOf(cone, positions));
    for (const [id, content] of contentsCreated(producers)) contents.set(id, content);
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
