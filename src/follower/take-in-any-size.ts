/**
 * Taking in a milestone, whatever the size of its past cone. Mostly what is fetched of it is held
 * until it is applied. A cone that takes too much heap for that is stored in parts first
 * (store-cone.ts), and then found in D1.
 */
import { type BlockSource, ConeUnavailable } from '../ledger/block-source.ts';
import type { Database } from '../ledger/database.ts';
import type { Head } from '../ledger/head.ts';
import type { VerifiedMilestone } from '../ledger/milestone-changes.ts';
import type { ParsedBlock } from '../stardust/block.ts';
import { toHexDigits } from '../stardust/bytes.ts';
import type { BlockCache } from '../upstream/block-cache.ts';
import { type ApplyTools, type TakenIn, takeInMilestone } from './apply-milestone.ts';
import type { FollowerMemory } from './follower-context.ts';
import { createLargeCone, type LargeCone, storeCone, tooLarge } from './store-cone.ts';

/** A source that finds blocks in a cache, and keeps there what it fetches. */
export type SourceInto = (fetched: Pick<BlockCache, 'get' | 'set'>) => BlockSource;

export interface TakeInTools {
  memory: FollowerMemory;
  rules: ApplyTools['rules'];
  sourceInto: SourceInto;
  /** Unix milliseconds after which no further part of a large cone is begun. */
  deadline: number;
}

/**
 * As takeInMilestone. A ConeUnavailable is `over-budget` where the next pass goes on, and
 * `too-large` where no pass will get any further.
 *
 * @param head where the ledger stands, right before the milestone
 */
export async function takeInAnySize(
  db: Database,
  head: Head,
  verified: VerifiedMilestone,
  tools: TakeInTools,
): Promise<TakenIn> {
  const { memory } = tools;
  const milestone = toHexDigits(verified.id);
  if (memory.large?.milestone !== milestone) {
    memory.large = undefined;
    try {
      return await takeHeld(db, verified, tools);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
    }
    memory.large = beginLarge(head, verified, memory);
  }
  const { large } = memory;
  if (large.refusal !== undefined) throw new ConeUnavailable('too-large', large.refusal);
  try {
    await storeWhatCanBe(db, head, large, tools);
    const applied = await takeHeld(db, verified, tools);
    memory.large = undefined;
    return applied;
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    const refusal = large.skeleton === undefined ? notProven(large, error) : error;
    refuse(memory, large, refusal);
    throw refusal;
  }
}

function isTooLarge(error: unknown): error is ConeUnavailable {
  return error instanceof ConeUnavailable && error.fault === 'too-large';
}

/** With what is fetched in memory. Throws a ConeUnavailable, `too-large`, where it does not fit. */
function takeHeld(
  db: Database,
  verified: VerifiedMilestone,
  { memory, rules, sourceInto }: TakeInTools,
): Promise<TakenIn> {
  const { fetched, exclusively } = memory;
  const hold = (id: string, block: ParsedBlock) => {
    fetched.set(id, block);
    if (fetched.heapBytes > memory.maxFetchedHeapBytes)
      throw new ConeUnavailable('too-large', 'more blocks than can be held at once');
  };
  const recall = (id: string) => {
    const held = fetched.get(id);
    if (held !== undefined) return held;
    const block = memory.large?.bodies.get(id);
    if (block === undefined) return undefined;
    memory.large?.bodies.delete(id);
    hold(id, block);
    return block;
  };
  const source = sourceInto({ get: recall, set: hold });
  return takeInMilestone(db, verified, { rules, source, exclusively });
}

/** What was fetched already is kept as bytes from now on. */
function beginLarge(head: Head, verified: VerifiedMilestone, memory: FollowerMemory): LargeCone {
  const milestone = toHexDigits(verified.id);
  const parents = verified.milestone.parents.map(toHexDigits);
  const large = createLargeCone(head, { milestone, parents }, memory.maxFetchedHeapBytes / 2);
  for (const [id, block] of memory.fetched.entries()) large.bodies.set(id, block);
  memory.fetched.clear();
  return large;
}

async function storeWhatCanBe(
  db: Database,
  head: Head,
  large: LargeCone,
  { memory, rules, sourceInto, deadline }: TakeInTools,
): Promise<void> {
  const { exclusively, openSet, maxStored: maxPart } = memory;
  const source = sourceInto(large.bodies);
  const tools = { rules, source, exclusively, openSet, deadline, maxPart };
  await storeCone(db, head, large, tools);
}

function notProven({ index }: LargeCone, { message }: ConeUnavailable): ConeUnavailable {
  return tooLarge(index, `${message} are not proven open by their parents`);
}

/** Another try would fetch all of it again and come to the same end. */
function refuse(memory: FollowerMemory, large: LargeCone, { message }: ConeUnavailable): void {
  large.refusal = message;
  large.skeleton = undefined;
  large.bodies.clear();
  memory.fetched.clear();
}
