/** Lists of outputs by what they say, and the outputs of aliases and foundries (TIP-26). */
import type { UpkeepContext } from '../../follower/follower-context.ts';
import type { Operations } from '../../http/openapi/operation.ts';
import { ALL_INDEXED } from '../../ledger/core/head.ts';
import { fillIndex } from '../../ledger/output-list/fill-index.ts';
import { pause } from '../../platform/clock.ts';
import type { Module } from '../module.ts';
import { chainLookupRoutes, describeChainLookup } from './routes/chain-lookup.ts';
import { describeOutputLists, outputListRoutes } from './routes/output-lists.ts';

const routes = { ...outputListRoutes, ...chainLookupRoutes };

export const lists: Module = {
  name: 'lists',
  routes,
  upkeep: { index: { failure: 'follower.index-not-filled', run: keepIndex } },
};

/** Milliseconds of a pass: the next milestones must not wait for longer. */
const MAX_FILL_MS = 1000;

/** Fills of one pass: three queries each, where D1 allows 1,000 an invocation. */
const MAX_FILL_STEPS = 100;

/**
 * Fills the ledger's lists with the kinds of outputs that they are to have: every kind if INDEX
 * says so or the ledger is over, else NFTs alone (docs/storage.md#lists).
 */
async function keepIndex({ db, memory, ...settings }: UpkeepContext): Promise<boolean> {
  const { indexAll, finalMilestone } = settings;
  if (indexAll === undefined) return true;
  // each pass reads it: an import or Time Travel may have changed it
  const mayBeWanted = indexAll || finalMilestone !== undefined;
  const indexed = memory.lastLedger?.indexed;
  if (indexed === ALL_INDEXED || (!mayBeWanted && indexed === '')) return true;
  const deadline = Date.now() + MAX_FILL_MS;
  for (let step = 0; step < MAX_FILL_STEPS && Date.now() < deadline; step++) {
    const begun = Date.now();
    if (await memory.step('index', () => fillIndex(db, { indexAll, finalMilestone }))) return true;
    // half of the database's time is for others: a proposal's queries come one after the other
    await pause(Date.now() - begun);
  }
  return false;
}

export const describeLists = (): Operations<typeof routes> => ({
  ...describeOutputLists(),
  ...describeChainLookup(),
});
