/**
 * The ledger as the routes see it (src/node/edge-node.ts): D1 and KV behind one interface.
 *
 * Reads go through a D1 session, so that a replica near by may answer: whatever it says carries its own ledger index.
 */

import { followerOf } from '../follower/follower-stub.ts';
import { explainMilestone, proveBlock } from '../ledger/applied-milestone.ts';
import type { Database } from '../ledger/database.ts';
import { readStatus } from '../ledger/node-status.ts';
import { readOutput } from '../ledger/output-status.ts';
import { describeError, writeLog } from '../log.ts';
import { lookUp } from '../nft-index/look-up-nft.ts';
import type { Settings } from '../settings.ts';
import { openSource } from '../upstream/fetch-blocks.ts';
import { createGuard } from '../upstream/fetch-quota.ts';
import { createBlockMemory } from '../upstream/open-block-cache.ts';
import { openUpstreams, readRules } from '../upstream/open-upstreams.ts';
import { createRanking, UpstreamFailure } from '../upstream/upstream.ts';
import { answerWhiteFlag } from './compute-white-flag.ts';
import type { EdgeNode, WhiteFlagRequest, WhiteFlagResult } from './edge-node.ts';

/** Milestones beyond the ledger's next that a request may be about and yet be worth waiting for: the follower may be a second behind. */
const NEAR = 2;

/** Milliseconds that a request waits for the follower. */
const CATCH_UP_TIME = 700;

/** A coordinator waits two seconds; milliseconds of them after which nothing more is fetched, and the most blocks that are (design §3). */
const REQUEST_TIME = 1500;
const MAX_FETCHED = 2000;

/** Bytes of heap for blocks that requests remember, a part of an isolate's 128 MB. */
const MAX_REMEMBERED = 16_000_000;

const guard = createGuard(Date.now);
const ranking = createRanking(Date.now);
const blockMemory = createBlockMemory(MAX_REMEMBERED);

export function openNode(settings: Settings): EdgeNode {
  const { ledger, nftIndex, upstreams } = settings;
  const newSession = () => ledger.withSession('first-unconstrained');
  return {
    computeWhiteFlag: (request) => computeWhiteFlag(newSession(), settings, request),
    lookUpNft: (nftId, minLedgerIndex) => lookUp(ledger, nftIndex, nftId, minLedgerIndex, Date.now),
    readStatus: () => readStatus(newSession(), upstreams.length > 0),
    readOutput: (outputId) => readOutput(newSession(), outputId),
    explainMilestone: (index) => explainMilestone(newSession(), index),
    proveBlock: (blockId) => proveBlock(newSession(), blockId),
  };
}

/**
 * A coordinator asks about the next milestone as soon as it has issued one, when the replica asked, or the ledger itself, may not have that one yet. Then the
 * follower is told to look now, and the question is put once more. The request itself stores nothing.
 */
async function computeWhiteFlag(
  db: Database,
  settings: Settings,
  request: WhiteFlagRequest,
): Promise<WhiteFlagResult> {
  const deadline = Date.now() + REQUEST_TIME;
  const result = await computeNow(db, settings, request, deadline);
  if (result.ok || result.ahead === undefined || result.ahead > NEAR) return result;
  if (settings.upstreams.length > 0) await catchUp(settings);
  return computeNow(settings.ledger.withSession('first-primary'), settings, request, deadline);
}

async function catchUp(settings: Settings): Promise<void> {
  const pass = followerOf(settings.follower)
    .catchUp()
    .catch((error: unknown) =>
      writeLog('warn', 'follower did not catch up', { error: describeError(error) }),
    );
  await Promise.race([pass, new Promise((resolve) => setTimeout(resolve, CATCH_UP_TIME))]);
}

/** Milliseconds for one answer: of several upstreams all but the last may hang, and there is still time to ask that one. */
function answerTime({ upstreams }: Settings): number {
  return upstreams.length === 1 ? REQUEST_TIME : Math.floor(REQUEST_TIME / (upstreams.length + 1));
}

async function computeNow(
  db: Database,
  settings: Settings,
  request: WhiteFlagRequest,
  deadline: number,
): Promise<WhiteFlagResult> {
  // without keys nothing that is fetched could be told to be a milestone
  const mayFetch = settings.upstreams.length > 0 && settings.milestoneKeys !== undefined;
  const rules = () => readRules(db, settings, request.index - 1);
  try {
    return await answerWhiteFlag(
      db,
      request,
      rules,
      mayFetch
        ? ({ ledger, generation }) => {
            const limits = { maxBlocks: MAX_FETCHED, deadline };
            const upstreams = openUpstreams(settings, answerTime(settings), 1);
            return guard(
              openSource(upstreams, ledger + 1, limits, blockMemory(generation, ledger), ranking),
            );
          }
        : undefined,
    );
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    writeLog('warn', 'upstream fails', { detail: describeError(error) });
    return { ok: false, status: 500, detail: 'an upstream node does not answer as it should' };
  }
}
