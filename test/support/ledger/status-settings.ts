/** Settings of a node that follows, for its status (src/ledger/read/node-status.ts). */
import type { StatusSettings } from '../../../src/ledger/read/node-status.ts';

export const FOLLOWING: StatusSettings = {
  follows: true,
  finalMilestone: undefined,
  retention: 17_280,
  limitBytes: undefined,
};
