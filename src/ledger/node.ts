/**
 * The ledger as the routes see it (src/http/node.ts): D1 and KV behind one interface.
 *
 * Reads go through a D1 session, so that a replica near by may answer: whatever it says carries its own ledger index.
 */
import { openSource } from '../follow/fetch-blocks.ts';
import { openUpstreams, readRules } from '../follow/session.ts';
import { UpstreamFailure } from '../follow/upstream.ts';
import type { EdgeNode, WhiteFlagRequest, WhiteFlagResult } from '../http/node.ts';
import { describeError, writeLog } from '../log.ts';
import { lookUp } from '../nft-index/look-up.ts';
import type { Settings } from '../settings.ts';
import { explainMilestone, proveBlock } from './explain.ts';
import { readOutput } from './outputs.ts';
import type { Database } from './rows.ts';
import { readStatus } from './status.ts';
import { answerWhiteFlag } from './white-flag.ts';

/** A coordinator waits two seconds; milliseconds of them for fetching, and the most blocks (design §3). */
const FETCH_TIME = 1500;
const MAX_FETCHED = 2000;

export function openNode(settings: Settings): EdgeNode {
  const db: Database = settings.ledger.withSession('first-unconstrained');
  return {
    computeWhiteFlag: (request) => computeWhiteFlag(db, settings, request),
    lookUpNft: (nftId, minLedgerIndex) => lookUp(settings.ledger, settings.nftIndex, nftId, minLedgerIndex, Date.now),
    readStatus: () => readStatus(db, settings.upstreams.length > 0),
    readOutput: (outputId) => readOutput(db, outputId),
    explainMilestone: (index) => explainMilestone(db, index),
    proveBlock: (blockId) => proveBlock(db, blockId),
  };
}

async function computeWhiteFlag(db: Database, settings: Settings, request: WhiteFlagRequest): Promise<WhiteFlagResult> {
  const deadline = Date.now() + FETCH_TIME;
  // without keys nothing that is fetched could be told to be a milestone
  const mayFetch = settings.upstreams.length > 0 && settings.milestoneKeys !== undefined;
  const rules = () => readRules(db, settings, request.index - 1);
  try {
    return await answerWhiteFlag(
      db,
      request,
      rules,
      mayFetch
        ? (index) => openSource(openUpstreams(settings, FETCH_TIME, 1), index, { maxBlocks: MAX_FETCHED, deadline })
        : undefined,
    );
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    writeLog('warn', 'upstream fails', { detail: describeError(error) });
    return { ok: false, status: 500, detail: 'an upstream node does not answer as it should' };
  }
}
