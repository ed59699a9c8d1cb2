/**
 * Verdicts that stand undecided in the records of a cone: an output that the transaction consumes
 * was not known when its block came in. Where a walk meets such a transaction, the verdict is made
 * now.
 */
import { type Cone, readCone } from '../stardust/white-flag/cone.ts';
import { type Proposal, type WhiteFlag, walkCone } from '../stardust/white-flag/walk.ts';
import type { AdmissionRules } from './admission-rules.ts';
import type { LoadedCone } from './consistent-view.ts';
import type { Database } from './database.ts';
import { completeStored } from './store-blocks.ts';

/**
 * Decides what the walk left undecided, and walks again. A verdict that is made can put another
 * transaction's inputs in reach, so this may take several rounds; each decides all that it found.
 *
 * @param walked the outcome of the walk over the loaded cone
 * @returns the cone with the new verdicts, and the outcome of the walk over it
 */
export async function decideVerdicts(
  db: Database,
  { view, cone, rows }: LoadedCone,
  proposal: Proposal,
  walked: WhiteFlag,
  rules: () => Promise<AdmissionRules>,
): Promise<{ cone: Cone; whiteFlag: WhiteFlag }> {
  const contents = new Map<string, Uint8Array>();
  for (const [id, { bytes }] of rows?.outputs ?? []) if (bytes) contents.set(id, bytes);
  let whole = cone;
  let whiteFlag = walked;
  while (whiteFlag.undecided.length > 0) {
    const undecided = whiteFlag.undecided.map((position) => whole.rowAt(position));
    const { generation } = view.head;
    const { verify } = await rules();
    const completed = await completeStored(db, generation, undecided, verify, contents);
    if (completed.size < undecided.length)
      throw new Error(`no verdict on the transaction of a block of rows ${undecided.join()}`);
    whole = readCone([whole.bytes, ...completed.values()]);
    whiteFlag = walkCone(whole, view.states, proposal);
  }
  return { cone: whole, whiteFlag };
}
