/**
 * What is said where a node has no bytes of a milestone: it is neither right nor wrong.
 */
import { type Info, saysEnded } from '../node/shapes.ts';
import { NotChecked } from '../parts/standing.tsx';

export function NothingToCheck({ info }: { info: Info }) {
  return (
    <div class="quiet">
      <NotChecked>
        this node answers that it has no bytes of the milestone, or none of its blocks. There is
        nothing to check here{saysEnded(info) ? '' : ' yet'}. {saysEnded(info) ? ENDED : STARTED}
      </NotChecked>
    </div>
  );
}

const STARTED =
  'A node that has just started has the ledger of a snapshot, and none of the blocks that led to it; a node that hides them answers the same. Each milestone that a node applies itself can be checked.';

const ENDED =
  'The network has ended, it says, and what it has is the last ledger, not the past that led to it. A final root from somebody you trust proves what that ledger has.';
