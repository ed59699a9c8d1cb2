/**
 * What a walk over records leaves open: milestones that were not verified when their blocks came in,
 * and admission under protocol parameters that were not known then.
 */
import { admissionFault } from '../../stardust/admission.ts';
import { isMilestoneBlock } from '../../stardust/milestone-keys.ts';
import type { WhiteFlag } from '../../stardust/white-flag/walk.ts';
import type { Database } from '../core/database.ts';
import type { AdmissionRules } from '../intake/admission-rules.ts';
import { ConeUnavailable } from '../intake/block-source.ts';
import { readBlocks } from './cone-blocks.ts';
import type { ConsistentView } from './consistent-view.ts';
import { packAt } from './viewed-packs.ts';

/** Blocks that carry the previous milestone's payload and are verified in one request. */
const MAX_VERIFIED = 100;

/**
 * Whether one of the blocks that carry the previous milestone's payload, unverified so far,
 * properly carries it (M-2 to M-5).
 */
export async function meetsPreviousMilestone(
  db: Database,
  view: ConsistentView,
  { metPreviousMilestone, unverified }: WhiteFlag,
  rules: () => Promise<AdmissionRules>,
): Promise<boolean> {
  if (metPreviousMilestone || unverified.length === 0) return metPreviousMilestone;
  if (unverified.length > MAX_VERIFIED) {
    const reason = `more than ${MAX_VERIFIED} blocks carry the previous milestone, none was verified`;
    throw new ConeUnavailable('too-large', reason);
  }
  const { keys, verify } = await rules();
  const numbers = unverified.map((position) => view.cone.numberAt(position));
  for (const block of await readBlocks(db, view, numbers))
    if (await isMilestoneBlock(block, keys, verify)) return true;
  return false;
}

/** Blocks whose admission is examined again in one request. */
const MAX_EXAMINED = 1000;

/**
 * Whether the walk met a block that the reference would not have stored (C-4 to C-19), under the
 * parameters that are known now: then the reference could not have answered. A block that a
 * milestone references was admitted, under whatever parameters.
 */
export async function meetsInadmissible(
  db: Database,
  view: ConsistentView,
  { order }: WhiteFlag,
  rules: () => Promise<AdmissionRules>,
): Promise<boolean> {
  const { cone, packs } = view;
  const isUnreferenced = (position: number) => {
    const { statuses, first } = packs[packAt(packs, position)]!;
    return statuses.milestoneAt(position - first) === 0;
  };
  const examined = order.filter(
    (position) => cone.inadmissibleAt(position) && isUnreferenced(position),
  );
  const numbers = Array.from(examined, (position) => cone.numberAt(position));
  if (numbers.length === 0) return false;
  if (numbers.length > MAX_EXAMINED) return true;
  const { parameters } = await rules();
  const blocks = await readBlocks(db, view, numbers);
  return blocks.some((block) => parameters.every((each) => admissionFault(block, each)));
}
