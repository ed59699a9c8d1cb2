/**
 * What is said where a node has no bytes of a milestone: it is neither right nor wrong.
 */
import { NotChecked } from '../parts/standing.tsx';

export function NothingToCheck() {
  return (
    <div class="quiet">
      <NotChecked>
        this node gives no bytes of the milestone, or none of its blocks. There is nothing to check
        here yet, it says: the milestone came with the snapshot from which the node started, which
        has the ledger and none of the blocks that led to it. Each milestone that a node applies
        itself can be checked.
      </NotChecked>
    </div>
  );
}
