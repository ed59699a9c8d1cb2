/**
 * The white-flag operation: steps 3 to 6 of the contract (design §1; protocol.md E.3, E.4).
 *
 * Two ways lead to roots, both complete, and everything else to an error.
 */

import { MAX_CHUNKS, readView, type View } from '../ledger/consistent-view.ts';
import type { Database } from '../ledger/database.ts';
import type { Head } from '../ledger/head.ts';
import {
  BeyondBudget,
  type BlockSource,
  gatherCone,
  judgeGathered,
  type NotGathered,
  ReferencedBefore,
  UnknownBlock,
} from '../ledger/load-cone.ts';
import type { IntakeRules } from '../ledger/prepare-blocks.ts';
import { isZero } from '../stardust/bytes.ts';
import type { Cone } from '../stardust/white-flag/block-record.ts';
import { computeRoots, type WhiteFlag } from '../stardust/white-flag/walk.ts';
import type { WhiteFlagRequest, WhiteFlagResult } from './edge-node.ts';

/** The most blocks that a request walks. */
const MAX_BLOCKS = 100_000;

/**
 * @param openSource fetches blocks that D1 does not have, for the milestone after the head; it throws as BlockSource says. Absent where nothing may be fetched.
 */
export async function answerWhiteFlag(
  db: Database,
  request: WhiteFlagRequest,
  rules: () => Promise<IntakeRules>,
  openSource?: (head: Head) => BlockSource,
): Promise<WhiteFlagResult> {
  const { index, timestamp, parents } = request;
  const stages: Record<string, number> = {};
  let since = Date.now();
  const measure = (stage: string) => {
    const now = Date.now();
    stages[stage] = now - since;
    since = now;
  };

  const view = await readView(db, index, parents);
  measure('read');
  if (view === undefined) return refuse(404, 'no ledger here');
  if (view === 'too large')
    return refuse(500, `a cone of more than ${MAX_CHUNKS} stretches of blocks`);
  const refusal = refuseRequest(view, request);
  if (refusal !== undefined) return refusal;

  const previousMilestoneId =
    index === view.head.genesis + 1 ? undefined : Uint8Array.fromHex(request.previousMilestoneId);
  const fetcher = index === view.head.ledger + 1 ? openSource?.(view.head) : undefined;
  const gathered = await gatherOrRefuse(gatherCone(db, view, index, parents, rules, fetcher));
  if ('ok' in gathered) return gathered;
  measure('fetch');
  if (gathered.cone.size > MAX_BLOCKS) return refuse(500, `more than ${MAX_BLOCKS} blocks to walk`);
  const { cone, whiteFlag } = await judgeGathered(
    db,
    gathered,
    timestamp,
    previousMilestoneId,
    rules,
  );
  measure('judge');
  if (meetsInadmissible(cone, whiteFlag))
    return refuse(404, 'a block of the cone is not one that a node admits');
  if (!whiteFlag.metPreviousMilestone)
    return refuse(400, 'the previous milestone is not in the past cone of the parents');
  const roots = computeRoots(cone, whiteFlag);
  measure('roots');
  return { ok: true, ...roots, blocks: whiteFlag.order.length, stages };
}

function refuse(status: 400 | 404 | 500, detail: string): WhiteFlagResult & { ok: false } {
  return { ok: false, status, detail };
}

/** Steps 3 and 4; and, as the reference does, no roots by rules that may have changed (E.4, 2). */
function refuseRequest(
  { head, previous, parameters }: View,
  { index, timestamp, previousMilestoneId }: WhiteFlagRequest,
): WhiteFlagResult | undefined {
  const first = index === head.genesis + 1;
  if (index <= head.genesis)
    return refuse(400, `index ${index} is not after the genesis milestone ${head.genesis}`);
  if (first !== isZero(Uint8Array.fromHex(previousMilestoneId))) {
    return refuse(
      400,
      first ? 'the first milestone has no previous one' : 'previousMilestoneId is zero',
    );
  }
  if (previous === undefined || index > head.ledger + 1) {
    const ahead = index - 1 - head.ledger;
    return {
      ...refuse(404, `milestone ${index - 1} is not known here, the ledger is at ${head.ledger}`),
      ledgerIndex: head.ledger,
      ...(ahead > 0 && { ahead }),
    };
  }
  const unsupported = parameters.unsupportedAfter(index - 1);
  if (unsupported !== undefined)
    return refuse(500, `protocol version ${unsupported} is not known here`);
  if (first) return undefined;
  if (previous.id !== previousMilestoneId)
    return refuse(400, `milestone ${index - 1} has another ID`);
  // E.3 (b): strictly greater
  if (previous.timestamp >= timestamp)
    return refuse(
      400,
      `timestamp is not after ${previous.timestamp}, that of milestone ${index - 1}`,
    );
  return undefined;
}

/** Step 5, the ways in which a cone cannot be had. Failures that are not among them are upstream's, or ours. */
async function gatherOrRefuse<T>(
  gathering: Promise<T | NotGathered>,
): Promise<T | (WhiteFlagResult & { ok: false })> {
  try {
    const gathered = await gathering;
    if (gathered === 'too large') return refuse(500, 'too many blocks to walk');
    if (gathered === 'ledger replaced') return refuse(500, 'the ledger was replaced meanwhile');
    if (typeof gathered === 'object' && gathered !== null && 'missing' in gathered) {
      return refuse(404, `block 0x${gathered.missing} is not known here`);
    }
    return gathered as T;
  } catch (error) {
    if (
      error instanceof UnknownBlock ||
      error instanceof ReferencedBefore ||
      error instanceof BeyondBudget
    ) {
      return refuse(404, error.message);
    }
    throw error;
  }
}

/** Whether the walk met a block that the reference would not have stored (C-4 to C-19): it could not have answered. */
function meetsInadmissible(cone: Cone, { order }: WhiteFlag): boolean {
  return order.some((position) => cone.inadmissibleAt(position));
}
