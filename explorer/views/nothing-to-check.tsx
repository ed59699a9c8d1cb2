/**
 * What is said of a ledger that is fresh from a snapshot: it is neither right nor wrong.
 */
import { Verdict } from '../parts/parts.tsx';

export function NothingToCheck() {
  return (
    <div class="quiet">
      <Verdict tone="neutral">
        There is nothing to check here yet. This milestone came with the snapshot from which the
        node started: a snapshot has the ledger, and none of the blocks that led to it. Each
        milestone that the node applies itself can be checked.
      </Verdict>
    </div>
  );
}
