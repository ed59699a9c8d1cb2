/**
 * Brings a verified milestone into the ledger: fetches and stores what D1 lacks of its past cone
 * (store/store-cone.ts), makes missing verdicts, leaves out blocks that an earlier milestone
 * referenced (store/leave-out.ts), and applies it from D1 (apply-milestone.ts).
 */
import { LedgerDamaged } from '../ledger/core/checksum.ts';
import type { Database } from '../ledger/core/database.ts';
import type { Head } from '../ledger/core/head.ts';
import { ConeUnavailable } from '../ledger/intake/block-source.ts';
import { stagedRoots } from '../ledger/packs/viewed-packs.ts';
import { dropStaged } from '../ledger/write/drop-blocks.ts';
import { dropReferenced } from '../ledger/write/drop-referenced.ts';
import type { VerifiedMilestone } from '../ledger/write/milestone-changes.ts';
import { resolveBlocks } from '../ledger/write/resolve-verdicts.ts';
import { toHex, toHexDigits } from '../stardust/encoding/bytes.ts';
import { inclusionRoot } from '../stardust/white-flag/walk.ts';
import { UpstreamFailure } from '../upstream/upstream.ts';
import {
  type ApplyOutcome,
  applyMilestone,
  type RootDiffers,
  walkMilestone,
} from './apply-milestone.ts';
import type { AppliedMilestone, FollowerMemory } from './follower-context.ts';
import { createSaid, findLeftOut, firstLost, queryReferenced } from './store/leave-out.ts';
import {
  countMet,
  createMissingCone,
  isKnown,
  type MissingCone,
  type StoreConeTools,
  storeCone,
} from './store/store-cone.ts';
import { Divergence } from './verify-milestone.ts';

/** `upstream`: the milestone's, queried about earlier references. */
export interface CompleteTools extends Omit<StoreConeTools, 'view'> {
  memory: FollowerMemory;
}

/** Tries in one pass: each ends as blocks of the cone were dropped, or referenced earlier. */
const MAX_TRIES = 3;

/** Blocks met by walks that are kept while another upstream is asked, those asked last first: 8 MB. */
const MAX_KEPT = 100_000;

/** Times that a stored cone is left to the upstream by whose word it ends, after the first one. */
const MAX_SPARED = 8;

/** Steps in which one try makes verdicts: up to 12 statements each, of an invocation's 1,000. */
const MAX_RESOLVING_STEPS = 24;

/**
 * Brings in the milestone after the ledger's, whatever the size of its cone. Throws a Divergence if
 * the roots are not the signed ones, a LedgerMoved if another writer was first, an UpstreamFailure
 * if a block cannot be fetched, a ConeUnavailable `over-budget` if the next pass continues.
 *
 * @param head the ledger right before the milestone
 */
export async function completeMilestone(
  db: Database,
  head: Head,
  verified: VerifiedMilestone,
  tools: CompleteTools,
): Promise<AppliedMilestone> {
  const { memory } = tools;
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const { cone, fetched } = await storeMissing(db, head, verified, tools);
    try {
      const outcome = await applyStored(db, verified, tools, cone?.said.referenced);
      if (outcome.kind === 'applied')
        return { index: verified.milestone.index, blocks: outcome.blocks, fetched };
      if (outcome.kind === 'root-differs') await leaveOut(db, outcome, verified, tools, cone);
    } catch (error) {
      // an upstream that diverges otherwise, without a cone, must not undo what others walked
      if (error instanceof Divergence && tools.upstream !== undefined) forget(memory, cone);
      throw error;
    }
    // blocks of the cone were dropped: the walk begins again
    forget(memory, cone);
  }
  throw new ConeUnavailable('over-budget', 'blocks of the cone are gone again');
}

function forget(memory: FollowerMemory, cone: MissingCone | undefined): void {
  memory.missing = memory.missing.filter((each) => each !== cone);
}

/**
 * Stores the blocks of the cone that D1 lacks; returns their number, and the walk that led to them,
 * which may have ended in an earlier pass.
 */
async function storeMissing(
  db: Database,
  head: Head,
  verified: VerifiedMilestone,
  tools: CompleteTools,
): Promise<{ cone: MissingCone | undefined; fetched: number }> {
  const { memory, upstream } = tools;
  const milestone = toHexDigits(verified.id);
  const parents = verified.milestone.parents.map(toHexDigits);
  const view = await memory.step('apply', () => memory.index.view(db, head, parents));
  // a walk ends where its upstream says, so each has its own; one that came down is stored by all
  const isOurs = ({ left, by = upstream?.name }: MissingCone) =>
    left !== undefined || upstream === undefined || by === upstream.name;
  const cones = memory.missing.filter((each) => each.milestone === milestone);
  const known = cones.find(isOurs);
  if (parents.every((id) => isKnown(view, id))) return { cone: known, fetched: 0 };
  if (memory.upkeep.isCrowded)
    throw new ConeUnavailable('over-budget', 'unreferenced blocks leave to make room');
  const cone = known ?? createMissingCone(head, { milestone, parents }, upstream?.name);
  cone.by ??= upstream?.name;
  // an interrupted walk may go on when another's blocks are staged
  if (cone.left === undefined) cone.isFirst = view.last.staged === undefined;
  let room = MAX_KEPT - countMet(cone);
  const others = cones.filter((each) => {
    if (each !== cone) room -= countMet(each);
    return each !== cone && room >= 0;
  });
  memory.missing = [cone, ...others];
  try {
    await storeCone(db, head, cone, { ...tools, view });
  } catch (error) {
    if (!(error instanceof ConeUnavailable) || error.fault === 'over-budget') throw error;
    // where the walk went by the word of an upstream, the next try walks afresh
    const isLacked = error.fault === 'unknown-block' && cone.left !== undefined;
    const isGivenUp = isLacked && ++cone.lacked > MAX_SPARED;
    if (error.fault === 'too-large' || isGivenUp) forget(memory, cone);
    // its next walk would end as this one did, and would leave no room for another's; but where
    // others' blocks were staged before it began, there may have been too many by their word
    const isOwnFault = error.fault === 'too-large' && (cone.left === undefined || cone.isFirst);
    if ((isOwnFault || isGivenUp) && cone.by !== undefined)
      memory.upstreams.astray(head.generation, head.ledger).add(cone.by);
    throw new UpstreamFailure(error.message);
  }
  return { cone, fetched: cone.stored };
}

/**
 * Applies the milestone, verdicts made where they are missing. All that their transactions consume
 * is stored, so they can be made; if none is, the next round tells whether they are damaged.
 */
async function applyStored(
  db: Database,
  verified: VerifiedMilestone,
  { memory, rules }: CompleteTools,
  ends: MissingCone['said']['referenced'] | undefined,
): Promise<Exclude<ApplyOutcome, { kind: 'verdicts-missing' }>> {
  let left = MAX_RESOLVING_STEPS;
  for (let isFruitless = false; ; ) {
    const outcome = await memory.step('apply', async () => {
      const tried = await applyMilestone(db, verified, rules, ends);
      if (tried.kind === 'applied') memory.index.retain(tried.view, tried.after, tried.left);
      // in the same step, as the drop is fenced on the blocks that are stored
      if (tried.kind === 'staged-for-another') await dropStaged(db, tried.view.head.generation);
      return tried;
    });
    if (outcome.kind !== 'verdicts-missing') return outcome;
    const { waiting, head, undecided } = outcome;
    memory.progress.workLeft(toHexDigits(verified.id), 'verdicts', undecided);
    const resolving = { index: memory.index, head, verify: rules.verify };
    const takeStep = <T>(work: () => Promise<T>) => memory.step('apply', work);
    const mayTake = () => left-- > 0;
    const { made, isCutOff } = await resolveBlocks(db, resolving, waiting, takeStep, mayTake);
    if (isCutOff) throw new ConeUnavailable('over-budget', 'verdicts are still made');
    if (made === 0 && isFruitless) throw new LedgerDamaged(`verdicts of pack ${waiting[0]![0]}`);
    isFruitless = made === 0;
  }
}

/**
 * Drops the blocks of the cone that an earlier milestone referenced. If the upstream names none,
 * drops staged blocks that rest on the word of an upstream, and throws a Divergence; but not if it
 * was the word of another one: the cone is stored again by the word of this one. So each upstream's
 * word gets its chance, and a liar diverges.
 */
async function leaveOut(
  db: Database,
  walk: RootDiffers,
  verified: VerifiedMilestone,
  tools: CompleteTools,
  cone: MissingCone | undefined,
): Promise<void> {
  const { memory, upstream } = tools;
  const { index } = verified.milestone;
  const isOwn = upstream !== undefined && cone?.by === upstream.name;
  const own = isOwn && cone?.isFirst ? cone.said : undefined;
  const { generation, ledger } = walk.view.head;
  const asked = memory.upstreams.asked(generation, ledger);
  const name = upstream?.name ?? '';
  // kept until it has said all, and that is used: it may refuse some queries, or a write may fail
  const said = own ?? asked.get(name) ?? createSaid();
  asked.set(name, said);
  const referenced = upstream ? await queryReferenced(db, walk, upstream, tools, said) : [];
  return memory.step('apply', async () => {
    // walked again, as the drop is fenced on the blocks that are stored by now
    const now = await walkMilestone(db, verified, cone?.said.referenced);
    if (now.kind !== 'root-differs') return;
    const { view, order, root } = now;
    // a block that is dropped and stored again has another number
    if (view.head.dropped !== walk.view.head.dropped) return;
    const before = findLeftOut(now, referenced);
    if (before !== undefined) await dropReferenced(db, view, before);
    asked.delete(name);
    if (before !== undefined) {
      memory.progress.beginAnew();
      memory.log('warn', 'follower.blocks-referenced-before', { index, blocks: before.size });
      return;
    }
    // of a pushed milestone nobody was queried: a pass may be about to leave these blocks out
    const restsOnWord = upstream !== undefined && stagedRoots(view).length > 0;
    const spared = memory.upstreams.spared(view.head.generation, view.head.ledger);
    const isOthers = restsOnWord && !isOwn;
    if (isOthers && cone) {
      // the other one may have failed just now
      const times = spared.get(upstream.name) ?? MAX_SPARED;
      spared.set(upstream.name, times + 1);
      if (times < MAX_SPARED)
        throw new UpstreamFailure('the past cone ends by the word of another upstream');
    }
    if (restsOnWord) await dropStaged(db, view.head.generation);
    if (isOthers) spared.set(upstream.name, 0);
    if (restsOnWord && !own) return;
    const computed = toHex(inclusionRoot(view.cone, order));
    // it counted as referenced, and may be lost upstream
    const lost = own && firstLost(own);
    const without =
      lost === undefined ? '' : ` without block 0x${lost}, which is not known upstream`;
    throw new Divergence(
      `milestone ${index}: inclusionMerkleRoot ${toHex(root)}, computed ${computed}${without}`,
    );
  });
}
