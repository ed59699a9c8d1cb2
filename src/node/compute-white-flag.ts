/**
 * The white-flag operation: steps 3 to 6 of the contract (docs/contract.md#white-flag;
 * docs/protocol.md, E.3 and E.4).
 *
 * Roots are computed from D1 alone. Where D1 lacks a parent, the follower is told to store it with
 * all that lies below it, and D1 is read again. Everything else leads to a refusal.
 */

import type { Database } from '../ledger/core/database.ts';
import { LedgerMoved, unlessMoved } from '../ledger/core/fence.ts';
import { type AdmissionRules, readAdmissionRules } from '../ledger/intake/admission-rules.ts';
import { ConeUnavailable, type NotBrought } from '../ledger/intake/block-source.ts';
import type { RecordCone } from '../ledger/record/read-cone.ts';
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
import { MAX_CONE_BLOCKS } from '../ledger/view/select-cone.ts';
import { isZero } from '../stardust/encoding/bytes.ts';
import type { MilestoneKeys } from '../stardust/milestone-keys.ts';
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
  /** Who may sign milestones; without keys no block counts as a milestone's. */
  keys: MilestoneKeys | undefined;
  /**
   * Has the follower store blocks that D1 does not have, by hex IDs, with all that lies below them.
   * Absent where nothing is followed.
   */
  bring?: ((ids: readonly string[]) => Promise<Brought>) | undefined;
}

export interface Brought {
  /** Where to read again. */
  db: Database;
  /** Why not all of them were stored, if a reason is known. */
  notBrought: NotBrought | undefined;
}

/** A refusal that is certain before the packs of the view are read. */
class Refused extends Error {
  readonly refusal: WhiteFlagRefusal;

  constructor(refusal: WhiteFlagRefusal) {
    super(refusal.detail);
    this.refusal = refusal;
  }
}

/** A cone that was walked: what roots and explanations are made of. */
export interface WalkedProposal {
  ok: true;
  loaded: LoadedCone;
  /** With all verdicts that count. */
  cone: RecordCone;
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
  const { keys } = options;
  const { index, timestamp, parents } = request;
  const { stages, measure } = createStopwatch();
  try {
    const { view, db, why } = await readOnceBrought(asked, request, options);
    measure('read');
    if (view === undefined) return refuse('unknown', 'no ledger here');
    const loaded = storedCone(view, parents);
    if (loaded === undefined) {
      const missing = parents.find((id) => !view.named.has(id));
      return why ?? refuse('unknown', `block 0x${missing} is not known here`);
    }
    const rules = once(() => readAdmissionRules(db, keys, index - 1));
    const previousMilestoneId =
      index === view.head.genesis + 1 ? undefined : Uint8Array.fromHex(request.previousMilestoneId);
    const proposal = { parents: loaded.parents, timestamp, previousMilestoneId };
    return await unlessMoved(db, loaded.view.head, index - 1, async () => {
      const walked = walkCone(loaded.cone, loaded.view.states, proposal);
      if (walked.order.length > MAX_CONE_BLOCKS)
        return refuse('failed', `more than ${MAX_CONE_BLOCKS} blocks to walk`);
      const { cone, whiteFlag } =
        walked.undecided.length === 0
          ? { cone: loaded.cone, whiteFlag: walked }
          : await decideVerdicts(db, loaded, proposal, walked, rules);
      measure('judge');
      if (await meetsInadmissible(db, loaded, cone, whiteFlag, rules))
        return refuse('unknown', 'a block of the cone is not one that a node admits');
      if (!(await meetsPreviousMilestone(db, loaded, cone, whiteFlag, rules)))
        return refuse(
          'impossible',
          'the previous milestone is not in the past cone of the parents',
        );
      return { ok: true, loaded, cone, whiteFlag, stages };
    });
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    if (error instanceof ConeUnavailable) return refuse(REASONS[error.fault], error.message);
    throw error;
  }
}

/**
 * The view, and the database to go on with. Where a parent is missing that the follower may have or
 * get, it is told to store it, and the view is read again; then a parent that is missing still comes
 * with the reason, where one is known.
 */
async function readOnceBrought(
  db: Database,
  request: WhiteFlagRequest,
  { bring }: WhiteFlagOptions,
): Promise<{ view: ConsistentView | undefined; db: Database; why?: WhiteFlagRefusal }> {
  const { index, parents } = request;
  const check = (facts: RefusalFacts) => {
    const refusal = refuseRequest(facts, request);
    if (refusal !== undefined) throw new Refused(refusal);
  };
  const view = await readView(db, { index, named: parents, check });
  if (bring === undefined || view === undefined || !isWorthBringing(view, request))
    return { view, db };
  const { db: fresh, notBrought } = await bring(parents.filter((id) => !view.named.has(id)));
  return {
    view: await readView(fresh, { index, named: parents, check }),
    db: fresh,
    ...(notBrought && { why: refuse(REASONS[notBrought.fault], notBrought.detail) }),
  };
}

/**
 * Whether a parent is missing, and an answer depends on nothing else. The milestone asked about may
 * be the ledger's own, as it may have come since the question was thought of.
 */
function isWorthBringing(view: ConsistentView, request: WhiteFlagRequest): boolean {
  const { ledger } = view.head;
  return (
    request.parents.some((id) => !view.named.has(id)) &&
    (request.index === ledger + 1 || request.index === ledger)
  );
}

/** Step 5: why a cone cannot be had, as the contract has it. */
const REASONS: Record<NotBrought['fault'], RefusalReason> = {
  'unknown-block': 'unknown',
  'referenced-before': 'unknown',
  'over-budget': 'unknown',
  'too-large': 'failed',
  'upstream-failed': 'failed',
};

export function refuse(reason: RefusalReason, detail: string): WhiteFlagRefusal {
  return { ok: false, reason, detail };
}

type RefusalFacts = Pick<ConsistentView, 'head' | 'previous' | 'parameters'>;

/** Steps 3 and 4; and, as the reference does, no roots by rules that may have changed (E.4, 2). */
function refuseRequest(
  { head, previous, parameters }: RefusalFacts,
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
