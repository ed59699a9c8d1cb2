/**
 * The white-flag operation: steps 3 to 6 of the contract (docs/contract.md#white-flag;
 * docs/protocol.md, E.3 and E.4).
 *
 * Two ways lead to roots, and both are complete: D1 has the whole cone, or the blocks that it lacks
 * are fetched from an upstream. Everything else leads to a refusal.
 */

import type { Database } from '../ledger/core/database.ts';
import { LedgerMoved } from '../ledger/core/fence.ts';
import type { Head } from '../ledger/core/head.ts';
import { type AdmissionRules, readAdmissionRules } from '../ledger/intake/admission-rules.ts';
import {
  type BlockSource,
  type ConeFault,
  ConeUnavailable,
} from '../ledger/intake/block-source.ts';
import {
  type ConsistentView,
  type LoadedCone,
  readView,
  storedCone,
} from '../ledger/view/consistent-view.ts';
import {
  decideVerdicts,
  meetsInadmissible,
  meetsPreviousMilestone,
} from '../ledger/view/decide-verdicts.ts';
import { fetchCone } from '../ledger/view/fetch-cone.ts';
import { isZero } from '../stardust/encoding/bytes.ts';
import type { MilestoneKeys } from '../stardust/milestone-keys.ts';
import type { Cone } from '../stardust/white-flag/cone.ts';
import { computeRoots, type WhiteFlag, walkCone } from '../stardust/white-flag/walk.ts';

/**
 * A request that passed steps 1 and 2 of the contract. IDs are lower-case hex digits without 0x.
 */
export interface WhiteFlagRequest {
  index: number;
  /** Unix seconds. */
  timestamp: number;
  /** 1 to 8 distinct block IDs, in the order of the request. */
  parents: string[];
  /** Zeros where the request has none. */
  previousMilestoneId: string;
}

export interface WhiteFlagRoots {
  ok: true;
  /** 32 bytes each. */
  inclusionMerkleRoot: Uint8Array;
  appliedMerkleRoot: Uint8Array;
  /** Blocks of the cone. */
  blocks: number;
  /** Milliseconds of each stage, by its name (a token of Server-Timing). */
  stages: Record<string, number>;
}

/**
 * `impossible`: the request can never be right. `unknown`: something that it names is not known
 * here. `failed`: an upstream or this node failed.
 */
export type RefusalReason = 'impossible' | 'unknown' | 'failed';

export interface WhiteFlagRefusal {
  ok: false;
  reason: RefusalReason;
  /** For people: ASCII, nothing internal. */
  detail: string;
  /** Where the ledger stands, if it does not know the state that the request is about. */
  ledgerIndex?: number;
  /** Milestones that the ledger lacks to the one before the request's, where that is the reason. */
  ahead?: number;
}

export type WhiteFlagResult = WhiteFlagRoots | WhiteFlagRefusal;

export interface WhiteFlagOptions {
  /** Who may sign milestones; without keys no block that is fetched counts as a milestone's. */
  keys: MilestoneKeys | undefined;
  /**
   * Fetches blocks that D1 does not have, for the milestone after the head; it throws as
   * BlockSource says. Absent where nothing may be fetched.
   */
  openSource?: ((head: Head) => BlockSource) | undefined;
  /**
   * Has pushed blocks stored that are not in D1 yet, if the parents, given by hex IDs, are among
   * them. Returns the database to read again, if the request should be retried.
   */
  storePushed?: ((parents: readonly string[]) => Promise<Database | undefined>) | undefined;
}

/** Milliseconds before the follower is told to store what it holds, once for each. */
const STORE_PAUSES_MS = [0, 20, 60];

/** Blocks of the largest cone that a request computes roots of: a second's work. */
const MAX_BLOCKS = 200_000;

/** A cone that was walked: what roots and explanations are made of. */
export interface WalkedProposal {
  ok: true;
  loaded: LoadedCone;
  /** With all verdicts that count. */
  cone: Cone;
  whiteFlag: WhiteFlag;
  stages: Record<string, number>;
}

/** Throws what the database throws, and a LedgerMoved where the ledger moves again and again. */
export async function computeWhiteFlag(
  db: Database,
  request: WhiteFlagRequest,
  options: WhiteFlagOptions,
): Promise<WhiteFlagResult> {
  return onceMore(async () => {
    const walked = await walkProposal(db, request, options);
    if (!walked.ok) return walked;
    const { cone, whiteFlag, stages } = walked;
    const { measure } = createStopwatch(stages);
    const roots = computeRoots(cone, whiteFlag);
    measure('roots');
    return { ok: true, ...roots, blocks: whiteFlag.order.length, stages };
  });
}

/** A milestone may take a block away before its bytes are read: rare, and not twice in a row. */
export async function onceMore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LedgerMoved)) throw error;
    return work();
  }
}

/** Steps 3 to 6, up to the roots. Throws a LedgerMoved where the ledger moves meanwhile. */
export async function walkProposal(
  asked: Database,
  request: WhiteFlagRequest,
  options: WhiteFlagOptions,
): Promise<WalkedProposal | WhiteFlagRefusal> {
  const { keys, openSource } = options;
  const { index, timestamp, parents } = request;
  const { stages, measure } = createStopwatch();
  try {
    const { first, db } = await readOnceStored(asked, request, options);
    measure('read');
    if (first === undefined) return refuse('unknown', 'no ledger here');
    const refusal = refuseRequest(first, request);
    if (refusal !== undefined) return refusal;

    const isNext = index === first.head.ledger + 1;
    const stored = storedCone(first, parents);
    const rules = once(() => readAdmissionRules(db, keys, index - 1));
    const source = isNext ? openSource?.(first.head) : undefined;
    const loaded = stored ?? (await fetchCone(db, { first, index, parents, rules, source }));
    measure('fetch');
    const previousMilestoneId =
      index === first.head.genesis + 1
        ? undefined
        : Uint8Array.fromHex(request.previousMilestoneId);
    const proposal = { parents: loaded.parents, timestamp, previousMilestoneId };
    const walked = walkCone(loaded.cone, loaded.view.states, proposal);
    if (walked.order.length > MAX_BLOCKS)
      return refuse('failed', `more than ${MAX_BLOCKS} blocks to walk`);
    const { cone, whiteFlag } =
      walked.undecided.length === 0
        ? { cone: loaded.cone, whiteFlag: walked }
        : await decideVerdicts(db, loaded, proposal, walked, rules);
    measure('judge');
    if (await meetsInadmissible(db, loaded, cone, whiteFlag, rules))
      return refuse('unknown', 'a block of the cone is not one that a node admits');
    if (!(await meetsPreviousMilestone(db, loaded, cone, whiteFlag, rules)))
      return refuse('impossible', 'the previous milestone is not in the past cone of the parents');
    return { ok: true, loaded, cone, whiteFlag, stages };
  } catch (error) {
    if (error instanceof ConeUnavailable) return refuse(REASONS[error.fault], error.message);
    throw error;
  }
}

/**
 * The view, and the database to go on with. Where a parent is missing the follower is told to store
 * what it holds, and the view is read again: more than once, as the newest blocks may be on their
 * way to the follower.
 */
async function readOnceStored(
  db: Database,
  request: WhiteFlagRequest,
  { storePushed }: WhiteFlagOptions,
): Promise<{ first: ConsistentView | undefined; db: Database }> {
  const { index, parents } = request;
  let from = db;
  for (const pause of storePushed === undefined ? [] : STORE_PAUSES_MS) {
    const first = await readView(from, { index, named: parents, ifKnown: true });
    if (first === undefined || !mayBeHeld(first, request)) return { first, db: from };
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    const fresh = await storePushed!(parents.filter((id) => !first.named.has(id)));
    if (fresh === undefined) break;
    from = fresh;
  }
  return { first: await readView(from, { index, named: parents }), db: from };
}

/**
 * Whether a parent is missing that the follower may hold. The milestone asked about may be the
 * ledger's own, as it may have come since the question was thought of.
 */
function mayBeHeld(view: ConsistentView, request: WhiteFlagRequest): boolean {
  const { ledger } = view.head;
  return (
    (view.isPartial || request.parents.some((id) => !view.named.has(id))) &&
    (request.index === ledger + 1 || request.index === ledger) &&
    refuseRequest(view, request) === undefined
  );
}

/** Step 5: why a cone cannot be had, as the contract has it. */
const REASONS: Record<ConeFault, RefusalReason> = {
  'unknown-block': 'unknown',
  'referenced-before': 'unknown',
  'over-budget': 'unknown',
  'too-large': 'failed',
  'ledger-replaced': 'failed',
};

export function refuse(reason: RefusalReason, detail: string): WhiteFlagRefusal {
  return { ok: false, reason, detail };
}

/** Steps 3 and 4; and, as the reference does, no roots by rules that may have changed (E.4, 2). */
function refuseRequest(
  { head, previous, parameters }: ConsistentView,
  { index, timestamp, previousMilestoneId }: WhiteFlagRequest,
): WhiteFlagRefusal | undefined {
  const first = index === head.genesis + 1;
  if (index <= head.genesis)
    return refuse(
      'impossible',
      `index ${index} is not after the genesis milestone ${head.genesis}`,
    );
  if (first !== isZero(Uint8Array.fromHex(previousMilestoneId))) {
    return refuse(
      'impossible',
      first ? 'the first milestone has no previous one' : 'previousMilestoneId is zero',
    );
  }
  if (previous === undefined || index > head.ledger + 1) {
    const ahead = index - 1 - head.ledger;
    const detail = `milestone ${index - 1} is not known here, the ledger is at ${head.ledger}`;
    return {
      ...refuse('unknown', detail),
      ledgerIndex: head.ledger,
      ...(ahead > 0 && { ahead }),
    };
  }
  const unsupported = parameters.unsupportedAfter(index - 1);
  if (unsupported !== undefined)
    return refuse('failed', `protocol version ${unsupported} is not known here`);
  if (first) return undefined;
  if (previous.id !== previousMilestoneId)
    return refuse('impossible', `milestone ${index - 1} has another ID`);
  // E.3 (b): strictly greater
  if (previous.timestamp >= timestamp) {
    const detail = `timestamp is not after ${previous.timestamp}, that of milestone ${index - 1}`;
    return refuse('impossible', detail);
  }
  return undefined;
}

function createStopwatch(stages: Record<string, number> = {}): {
  stages: Record<string, number>;
  measure(stage: string): void;
} {
  let since = Date.now();
  return {
    stages,
    measure(stage) {
      const now = Date.now();
      stages[stage] = now - since;
      since = now;
    },
  };
}

/**
 * The rules are read at most once a request, and only where blocks or verdicts are to be judged.
 */
function once(read: () => Promise<AdmissionRules>): () => Promise<AdmissionRules> {
  let rules: Promise<AdmissionRules> | undefined;
  return () => {
    rules ??= read();
    return rules;
  };
}
