/**
 * The white-flag operation: steps 3 to 6 of the contract (docs/contract.md#white-flag;
 * docs/protocol.md, E.3 and E.4). Roots are computed from D1 alone. If D1 lacks a parent or a
 * verdict, the follower provides it, and D1 is read again. Everything else leads to a refusal.
 */
import type { Database } from '../ledger/core/database.ts';
import { LedgerMoved, onceMore, unlessMoved } from '../ledger/core/fence.ts';
import { NO_LEDGER } from '../ledger/core/head.ts';
import {
  ConeUnavailable,
  type NotBrought,
  type WantedOfFollower,
} from '../ledger/intake/block-source.ts';
import { MAX_CONE_BLOCKS } from '../ledger/packs/view-pages.ts';
import { numbersByPack } from '../ledger/packs/viewed-packs.ts';
import { MAX_VERIFIED_FOR_REQUEST, meetsPreviousMilestone } from '../ledger/view/cone-blocks.ts';
import { type ConsistentView, readView, walkView } from '../ledger/view/consistent-view.ts';
import { takeTurns } from '../platform/clock.ts';
import { concatBytes, isZero } from '../stardust/encoding/bytes.ts';
import type { MilestoneRules } from '../stardust/milestone-keys.ts';
import { merkleRootOfLeaves } from '../stardust/proof/merkle.ts';
import { ConflictReason } from '../stardust/semantics/verdict.ts';
import type { Cone } from '../stardust/white-flag/cone.ts';
import { inclusionRoot, type MerkleRoots, type WhiteFlag } from '../stardust/white-flag/walk.ts';

/**
 * A request that passed steps 1 and 2 of the contract. IDs are lower-case hex digits without 0x.
 */
export interface WhiteFlagRequest {
  index: number;
  timestamp: number;
  /** 1 to 8 distinct block IDs, in the order of the request. */
  parents: string[];
  /** Empty where the request has none. */
  previousMilestoneId: string;
}

export interface WhiteFlagRoots extends MerkleRoots {
  ok: true;
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
  /** Text for people: ASCII, nothing internal. */
  detail: string;
  /** Where the ledger stands, if it does not know the state that the request is about. */
  ledgerIndex?: number;
  /** Milestones that the ledger lacks to the one before the request's, where that is the reason. */
  ahead?: number;
}

export type WhiteFlagResult = WhiteFlagRoots | WhiteFlagRefusal;

/** Runs the work as soon as there is a place for it. */
export type InPlace = <T>(work: () => Promise<T>) => Promise<T>;

export interface WhiteFlagOptions {
  rules: MilestoneRules;
  /** Runs what is done with each view, a second's work at most. Absent: at once. */
  inPlace?: InPlace | undefined;
  /** Has the follower write what D1 lacks. Absent where nothing is followed. */
  bring?: ((wanted: WantedOfFollower) => Promise<Brought>) | undefined;
  /** Verdicts of one round: the follower's object holds those of all requests that wait. */
  maxUndecided?: number;
}

export interface Brought {
  db: Database;
  /** Reason why not all of it was written, if one is known. */
  notBrought: NotBrought | undefined;
}

/** A refusal that is certain from the first page of the view: no other is read. */
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
  /** The session that read the view: a replica may lack what was brought. */
  db: Database;
  view: ConsistentView;
  whiteFlag: WhiteFlag;
  stages: Record<string, number>;
}

/** Throws what the database throws, and a LedgerMoved where the ledger moves again and again. */
export async function computeWhiteFlag(
  db: Database,
  request: WhiteFlagRequest,
  options: WhiteFlagOptions,
): Promise<WhiteFlagResult> {
  return onceMore(() =>
    walkProposal(db, request, options, async ({ view, whiteFlag, stages }) => {
      const { measure } = createStopwatch(stages);
      const roots = await computeRootsInTurns(view.cone, whiteFlag);
      measure('roots');
      return { ok: true, ...roots, blocks: whiteFlag.order.length, stages };
    }),
  );
}

/** Leaves of the part of a tree that is hashed in one step, some 6 ms: a power of two. */
const LEAVES_AT_ONCE = 1024;

/** Computes both roots of a cone that was walked; other requests have turns between. */
export async function computeRootsInTurns(
  cone: Cone,
  { order, reasons }: Pick<WhiteFlag, 'order' | 'reasons'>,
  turn: () => Promise<void> = takeTurns(),
): Promise<MerkleRoots> {
  const rootOf = async (positions: Uint32Array) => {
    const parts = [inclusionRoot(cone, positions.subarray(0, LEAVES_AT_ONCE))];
    for (let i = LEAVES_AT_ONCE; i < positions.length; i += LEAVES_AT_ONCE) {
      await turn();
      parts.push(inclusionRoot(cone, positions.subarray(i, i + LEAVES_AT_ONCE)));
    }
    await turn();
    // each part but the last is a full subtree
    return merkleRootOfLeaves(concatBytes(...parts), parts.length);
  };
  const applied = order.filter((_, i) => reasons[i] === ConflictReason.None);
  return { inclusionMerkleRoot: await rootOf(order), appliedMerkleRoot: await rootOf(applied) };
}

/**
 * Steps 3 to 6, up to the roots: returns what `conclude` makes of the cone, in the same place. Throws
 * a LedgerMoved where the ledger moves meanwhile.
 */
export async function walkProposal<Answer>(
  asked: Database,
  request: WhiteFlagRequest,
  options: WhiteFlagOptions,
  conclude: (walked: WalkedProposal) => Promise<Answer>,
): Promise<Answer | WhiteFlagRefusal> {
  const { bring, inPlace = (work) => work(), maxUndecided = MAX_UNDECIDED } = options;
  const { stages, measure } = createStopwatch();
  let db = asked;
  let before: string | undefined;
  let why: WhiteFlagRefusal | undefined;
  let mayFail = false;
  try {
    for (let round = 0; ; round++) {
      const step = await inPlace(async () => {
        const read = await readAndWalk(db, request, measure, mayFail);
        if (round === 0) before = read.view?.head.generation;
        // where a block was not brought all may be here by now, but for a verdict
        const isOver = why !== undefined && mayFail;
        const mayBring = round < MAX_ROUNDS && bring !== undefined && !isOver;
        const wanted = mayBring ? wantedOfFollower(read, request, maxUndecided) : undefined;
        // an upstream that did not have a block a moment ago is not asked again
        if (wanted !== undefined && (round === 0 || wanted.blocks.length === 0)) return { wanted };
        const walked = await requireWalked({ ...read, db, before, why, stages }, request, options);
        return { answer: walked.ok ? await conclude(walked) : walked };
      });
      if ('answer' in step) return step.answer;
      const { db: fresh, notBrought } = await bring!(step.wanted);
      db = fresh;
      why = notBrought && refuse(REASONS[notBrought.fault], notBrought.detail);
      mayFail = step.wanted.undecided.length > 0;
    }
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    if (error instanceof ConeUnavailable) return refuse(REASONS[error.fault], error.message);
    throw error;
  }
}

/** The last read, with what was brought before it. */
interface LastRead extends ReadAndWalked, Pick<WalkedProposal, 'db' | 'stages'> {
  /** Generation at the first read. */
  before: string | undefined;
  /** Why not all was brought. */
  why: WhiteFlagRefusal | undefined;
}

async function requireWalked(
  { view, whiteFlag, db, before, why, stages }: LastRead,
  { index, parents }: WhiteFlagRequest,
  { rules }: WhiteFlagOptions,
): Promise<WalkedProposal | WhiteFlagRefusal> {
  if (view === undefined) return refuse('failed', NO_LEDGER);
  // what was there before an import need not be there now
  if (whiteFlag === undefined && !why && view.head.generation !== before)
    throw new LedgerMoved('an import came');
  if (whiteFlag === undefined) return why ?? refuseUnknown(view, parents);
  if (whiteFlag.order.length > MAX_CONE_BLOCKS)
    return refuse('failed', `more than ${MAX_CONE_BLOCKS} blocks to walk`);
  if (whiteFlag.undecided.length > 0)
    return refuse('failed', 'transactions of the cone have no verdict yet');
  return await unlessMoved(db, view.head, index - 1, async () => {
    if (!(await meetsPreviousMilestone(db, view, whiteFlag, rules, MAX_VERIFIED_FOR_REQUEST)))
      return refuse('impossible', 'the previous milestone is not in the past cone of the parents');
    return { ok: true, db, view, whiteFlag, stages };
  });
}

/** Names what may be unknown: a view without packs names no unreferenced block. */
function refuseUnknown({ named }: ConsistentView, parents: readonly string[]): WhiteFlagRefusal {
  const unnamed = parents.filter((id) => !named.has(id)).map((id) => `0x${id}`);
  const detail =
    unnamed.length === 1
      ? `block ${unnamed[0]} is not known here`
      : `not all of these blocks are known here: ${unnamed.join(', ')}`;
  return refuse('unknown', detail);
}

/** Verdicts, as many as a milestone has transfers: the numbers of 70 requests take 8 MB. */
const MAX_UNDECIDED = 10_000;

/** How often the follower is told to write: blocks, verdicts, and those of rivals of what failed. */
const MAX_ROUNDS = 3;

interface ReadAndWalked {
  view: ConsistentView | undefined;
  /** Undefined where a parent is not known. */
  whiteFlag: WhiteFlag | undefined;
}

async function readAndWalk(
  db: Database,
  request: WhiteFlagRequest,
  measure: (stage: string) => void,
  mayFail = false,
): Promise<ReadAndWalked> {
  const { index, parents, timestamp } = request;
  const check = (facts: RefusalFacts) => {
    const refusal = refuseRequest(facts, request);
    if (refusal !== undefined) throw new Refused(refusal);
  };
  const view = await readView(db, { index, named: parents, check });
  measure('read');
  if (view === undefined) return { view, whiteFlag: undefined };
  const previousMilestoneId =
    index === view.head.genesis + 1 ? undefined : Uint8Array.fromHex(request.previousMilestoneId);
  const whiteFlag = walkView(view, parents, { timestamp, previousMilestoneId, mayFail });
  measure('judge');
  return { view, whiteFlag };
}

/**
 * Names what D1 lacks and the follower may provide: verdicts, or parents if an answer depends on
 * nothing else. The milestone may be the ledger's by now: it came while the request was in flight.
 */
function wantedOfFollower(
  { view, whiteFlag }: ReadAndWalked,
  { index, parents }: WhiteFlagRequest,
  maxUndecided: number,
): WantedOfFollower | undefined {
  if (view === undefined) return undefined;
  if (whiteFlag !== undefined)
    return whiteFlag.undecided.length === 0
      ? undefined
      : { blocks: [], undecided: numbersByPack(view, whiteFlag.undecided.slice(0, maxUndecided)) };
  const { ledger } = view.head;
  if (index !== ledger + 1 && index !== ledger) return undefined;
  return { blocks: parents.filter((id) => !view.named.has(id)), undecided: [] };
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

/** Steps 3 and 4; and no roots by rules that may have changed: the reference refuses earlier (E.4, 1). */
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
    const given = previousMilestoneId === '' ? 'absent' : 'zero';
    return refuse(
      'impossible',
      first ? 'the first milestone has no previous one' : `previousMilestoneId is ${given}`,
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

function createStopwatch(stages: Record<string, number> = {}) {
  let since = Date.now();
  return {
    stages,
    measure(stage: string) {
      const now = Date.now();
      stages[stage] = now - since;
      since = now;
    },
  };
}
