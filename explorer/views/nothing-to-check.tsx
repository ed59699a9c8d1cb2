/**
 * What is said where a node has no bytes of a milestone: it is neither right nor wrong.
 */
import { NotChecked } from '../parts/standing.tsx';

export function NothingToCheck() {
  return (
    <div class="quiet">
      <NotChecked>
        this node answers that it has no bytes of the milestone, or none of its blocks. There is
        nothing to check here yet. A node that has just started has the ledger of a snapshot, and
        none of the blocks that led to it; a node that hides them answers the same. Each milestone
        that a node applies itself can be checked.
      </NotChecked>
    </div>
  );
}
