/**
 * A feed so busy that pushed blocks are stored whenever a step of the milestone ends.
 */
import { noteLedger, takePushed } from '../../../src/follower/follower-context.ts';
import { readPosition } from '../../../src/follower/ledger-position.ts';
import { storePushed } from '../../../src/follower/pushed/store-pushed.ts';
import { LedgerMoved } from '../../../src/ledger/core/fence.ts';
import { blockAround, taggedDataPayload } from '../network/blocks.ts';
import type { Rig } from './ledger-harness.ts';

/** @param parent of the pushed blocks, by its ID: a block that is stored and proven */
export async function keepPushing({ following }: Rig, parent: string): Promise<void> {
  const { db, memory } = following;
  noteLedger(memory, await readPosition(db, following));
  const { step } = memory;
  let pushed = 0;
  memory.step = async (name, work) => {
    const result = await step(name, work);
    if (name !== 'apply') return result;
    const data = new TextEncoder().encode(String(pushed++));
    const block = blockAround([parent], taggedDataPayload(new Uint8Array(), data));
    takePushed(memory, 'block', block);
    await storePushed(following).catch((error: unknown) => {
      if (!(error instanceof LedgerMoved)) throw error;
    });
    return result;
  };
}
