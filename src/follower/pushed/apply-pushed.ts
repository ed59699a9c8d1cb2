/**
 * A pushed milestone is applied as soon as its whole past cone was pushed or is in D1. Nothing is
 * fetched: where a block is missing, a pass fetches it (pass.ts).
 *
 * It is trusted as little as one that was fetched: it must follow the ledger's, be signed, and both
 * of its roots are computed from the blocks (apply-milestone.ts).
 */

import { LedgerMoved } from '../../ledger/core/fence.ts';
import { type BlockSource, ConeUnavailable } from '../../ledger/intake/block-source.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import { applyMilestone } from '../apply-milestone.ts';
import {
  blocksAtHand,
  type FollowerContext,
  noteApplied,
  noteLedger,
} from '../follower-context.ts';
import { type LedgerPosition, readPosition } from '../ledger-position.ts';
import { Divergence, verifyMilestone } from '../verify-milestone.ts';

/** How many milestones were applied. Throws what the database throws. */
export async function applyPushed(context: FollowerContext): Promise<number> {
  for (let applied = 0; ; applied++) {
    const position = await readPosition(context.db, context);
    noteLedger(context.memory, position);
    const { ledger } = position.head;
    if (ledger >= (context.finalMilestone ?? Number.POSITIVE_INFINITY)) return applied;
    if (position.announced.unsupportedAfter(ledger) !== undefined) return applied;
    if (!(await applyDue(context, position))) return applied;
    await context.publish(false);
  }
}

/** Whether one of those that were pushed is the milestone after the ledger's, and was applied. */
async function applyDue(
  { db, memory, announce }: FollowerContext,
  position: LedgerPosition,
): Promise<boolean> {
  const { pushed } = memory;
  const { rules } = position;
  const index = position.head.ledger + 1;
  for (const payload of pushed.milestones.at(index)) {
    const started = Date.now();
    try {
      const verified = await verifyMilestone(payload, position, rules);
      const source = heldSource(blocksAtHand(memory).get);
      const deadline = Number.POSITIVE_INFINITY;
      const tools = { memory, rules, source, deadline };
      const applied = await applyMilestone(db, position.head, verified, tools);
      noteApplied(memory, applied, { started, pushed: true });
      announce?.(applied.index);
      memory.upstreams.diverged = undefined;
      return true;
    } catch (error) {
      // anybody can make up a milestone; what is wrong with a signed one is found by a pass
      if (error instanceof Divergence) pushed.milestones.refuse(index, payload);
      else if (error instanceof LedgerMoved) return false;
      else if (!(error instanceof ConeUnavailable || error instanceof UpstreamFailure)) throw error;
    }
  }
  return false;
}

/** Gives what is held, and fetches nothing. */
function heldSource(recall: NonNullable<BlockSource['recall']>): BlockSource {
  return {
    recall,
    fetch: async (ids) =>
      ids.map((id) => {
        const block = recall(id);
        if (block === undefined)
          throw new ConeUnavailable('over-budget', `block 0x${id} was not pushed yet`);
        return block;
      }),
  };
}
