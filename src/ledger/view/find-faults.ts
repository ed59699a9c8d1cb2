/**
 * Why transactions of a cone are in conflict (docs/protocol.md, D.2). Records keep the reasons
 * only, so each verdict is made again, with what decided it.
 */

import { toHexDigits } from '../../stardust/encoding/bytes.ts';
import { ConflictReason } from '../../stardust/semantics/conflict-reason.ts';
import type { Fault } from '../../stardust/semantics/fault.ts';
import { findFault } from '../../stardust/semantics/judge.ts';
import { isOfLedger } from '../../stardust/white-flag/deciding-input.ts';
import { NOT_A_TRANSACTION } from '../../stardust/white-flag/walk.ts';
import type { ParsedBlock } from '../../stardust/wire/block.ts';
import { verifySignature } from '../../verify-signature.ts';
import type { Database } from '../core/database.ts';
import { LedgerMoved } from '../core/fence.ts';
import { contentsConsumed, readJudged } from '../intake/prepare-blocks.ts';
import type { LoadedCone } from './consistent-view.ts';
import { contentsCreated, readContents } from './decide-verdicts.ts';

/**
 * By place among the blocks, what decided on the transactions for which a rule of D.2 did.
 *
 * @param blocks of the cone, in white-flag order
 * @param reasons the walk's, of each block
 * @param timestamp the milestone's, unix seconds
 * @returns rejects with a LedgerMoved where an output that one of them consumes is no longer there,
 *   with an Error where the verdict made now is another one
 */
export async function findFaults(
  db: Database,
  { numbering }: LoadedCone,
  blocks: readonly ParsedBlock[],
  reasons: ArrayLike<number>,
  timestamp: number,
): Promise<Map<number, Fault>> {
  const places = [...blocks.keys()].filter((place) => isOfVerdict(reasons[place]!));
  const faults = new Map<number, Fault>();
  if (places.length === 0) return faults;
  const judged = places.map((place) => blocks[place]!);
  const contents = new Map([
    ...(await readContents(db, judged, numbering.outputs)),
    ...contentsCreated(blocks),
  ]);
  for (const place of places) {
    const { id, transaction } = blocks[place]!;
    const consumed = contentsConsumed(transaction!, contents);
    if (consumed === undefined)
      throw new LedgerMoved(`an output that block ${toHexDigits(id)} consumes has left its pack`);
    const { tx, outputs } = await readJudged(transaction!, consumed, verifySignature);
    const fault = findFault(tx, outputs, timestamp);
    if (fault === undefined || fault.reason !== reasons[place]) {
      const other = `${reasons[place]} was stored, ${fault?.reason ?? 0} is found`;
      throw new Error(`two verdicts on block ${toHexDigits(id)}: ${other}`);
    }
    faults.set(place, fault);
  }
  return faults;
}

function isOfVerdict(reason: number): boolean {
  return reason !== ConflictReason.None && reason !== NOT_A_TRANSACTION && !isOfLedger(reason);
}
