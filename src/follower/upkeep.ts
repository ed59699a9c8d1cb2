/**
 * Upkeep: work of a pass once the ledger is as far as it can be, in bounded steps (steps.ts) that
 * go on from what D1 says. One that fails is logged and stops no other; a later pass tries again.
 */
import { LedgerDamaged } from '../ledger/core/checksum.ts';
import { dropAll, dropUnneeded, measureUnreferenced } from '../ledger/write/drop-blocks.ts';
import { MIN_RETENTION, prune, type Shortage } from '../ledger/write/prune.ts';
import { resolveVerdicts } from '../ledger/write/resolve-verdicts.ts';
import { scrub } from '../ledger/write/scrub.ts';
import { hasPassed, within } from '../platform/clock.ts';
import { writeLog } from '../platform/log.ts';
import { type Upstream, UpstreamFailure } from '../upstream/upstream.ts';
import { logFailure, type Upkeep, type UpkeepContext } from './follower-context.ts';

/** `more`: there is more to do right away. */
export type UpkeepState = 'done' | 'more' | 'failed';

/** Upkeep in the order of a pass; that of modules comes before the last. */
const UPKEEP = {
  prune: { failure: 'follower.prune-failed', run: pruneMilestones },
  drop: { failure: 'follower.blocks-not-dropped', run: dropUnneededBlocks },
  resolve: { failure: 'follower.verdicts-not-made', run: makeOpenVerdicts },
  scrub: { failure: 'follower.scrub-failed', run: scrubIfDue },
} as const satisfies Record<string, Upkeep>;

/** @param isAtRest whether the ledger does not move: it needs less then */
export async function keepUp(
  context: UpkeepContext,
  isAtRest = false,
): Promise<Record<string, UpkeepState>> {
  const { scrub, ...others } = UPKEEP;
  const upkeep: Record<string, Upkeep> = {
    ...(!isAtRest && others),
    ...context.moduleUpkeep,
    scrub,
  };
  const states: Record<string, UpkeepState> = {};
  for (const [name, { failure, run }] of Object.entries(upkeep)) {
    try {
      states[name] = (await run(context)) ? 'done' : 'more';
    } catch (error) {
      logFailure(context.memory.log, failure, error);
      states[name] = 'failed';
    }
  }
  return states;
}

async function pruneMilestones(context: UpkeepContext): Promise<boolean> {
  const { db, retention, keepsHistory, ledgerParts = [], memory } = context;
  const isFull = memory.upkeep.isDatabaseFull;
  const [carry, another] = ledgerParts.flatMap((part) => part.carry ?? []);
  if (another !== undefined) throw new Error('two modules carry what is pruned, where one may');
  const { generation } = memory.lastLedger ?? {};
  const kept = { ...(keepsHistory && { carry }), generation };
  const options = { ...kept, limitBytes: context.databaseLimit, isFull };
  const shortage = await memory.step('prune', () => prune(db, retention, options));
  memory.upkeep.isDatabaseFull = false;
  if (shortage !== undefined) tellShortage(context, shortage);
  return true;
}

/** The numbers are rounded, so that a line is the same for a while. */
function tellShortage(
  { memory, retention, databaseLimit }: UpkeepContext,
  { databaseBytes, kept }: Shortage,
): void {
  const isLeast = kept <= MIN_RETENTION;
  memory.log(isLeast ? 'error' : 'warn', 'follower.retention-shortened', {
    detail: isLeast
      ? 'the database is nearly full, and no fewer milestones can be kept'
      : 'the database is nearly full: fewer milestones are kept than RETENTION_MILESTONES says',
    databaseGigabytes: Math.floor(databaseBytes / 1e8) / 10,
    limitGigabytes: databaseLimit && databaseLimit / 1e9,
    keptMilestones: Math.min(Number(kept.toPrecision(1)), retention),
    configuredMilestones: retention,
  });
}

/** Pause after an eviction, in its durations: it may find that everything is needed. */
const PAUSE_PER_EVICTION = 10;

/** Milliseconds that an eviction takes at most, unless the clock was set. */
const MAX_EVICTION_MS = 30_000;

/**
 * Drops orphans, and beyond a limit what no upstream's tip needs. While a milestone's past cone is
 * stored in parts, nothing is dropped, as no tip may lead to those yet; room is still measured.
 */
async function dropUnneededBlocks({ db, upstreams, memory }: UpkeepContext): Promise<boolean> {
  const { upkeep, counts, index } = memory;
  if (memory.missing.length > 0) {
    await memory.step('drop', async () => {
      upkeep.room = (await measureUnreferenced(db)).room;
    });
    return true;
  }
  const mayEvict = hasPassed(upkeep.eviction.pause, upkeep.eviction.ended, Date.now());
  let isEvicting = false;
  const tellEvicted = (blocks: number) => {
    counts.evicted += blocks;
    if (blocks > 0) memory.log('warn', 'follower.blocks-evicted', { blocks });
  };
  if (upkeep.isCrowded) {
    // strangers' blocks are not stored again before the milestone's
    upkeep.room = 0;
    const evicted = await memory.step('drop', () => dropAll(db, index));
    tellEvicted(evicted);
    upkeep.isCrowded = evicted > 0;
    return !upkeep.isCrowded;
  }
  const drop = async (tips: readonly string[]) => {
    const readTips = async () => {
      isEvicting = true;
      return tips;
    };
    const { orphans, evicted, room } = await memory.step('drop', () =>
      dropUnneeded(db, index, readTips),
    );
    upkeep.room = room;
    counts.orphans += orphans;
    tellEvicted(evicted);
  };
  await drop([]);
  if (!isEvicting || !mayEvict) return true;
  const begun = Date.now();
  try {
    await drop(await readAllTips(upstreams));
  } finally {
    // after a failure too
    const ended = Date.now();
    const took = Math.min(ended - begun, MAX_EVICTION_MS);
    upkeep.eviction = { ended, pause: PAUSE_PER_EVICTION * took };
  }
  return true;
}

/** Milliseconds for the tips of all upstreams: the next milestone may wait meanwhile. */
const TIPS_MS = 3000;

/**
 * Returns the hex IDs of the tips of all upstreams that answer in time. An upstream can keep blocks
 * so, and cannot evict those that another one needs.
 */
async function readAllTips(upstreams: readonly Upstream[]): Promise<string[]> {
  const inTime = (each: Upstream) =>
    within(TIPS_MS, each.readTips(), () => []).catch((error: unknown) => {
      if (error instanceof UpstreamFailure) return [];
      throw error;
    });
  return (await Promise.all(upstreams.map(inTime))).flat();
}

/** Steps of one pass: some 0.2 s each at most, and up to 18 statements. */
const RESOLVING_STEPS = 16;

async function makeOpenVerdicts({ db, verify, memory }: UpkeepContext): Promise<boolean> {
  const { lastLedger: head, index } = memory;
  let isMore = head !== undefined;
  for (let step = 0; step < RESOLVING_STEPS && isMore; step++)
    isMore = await memory.step('resolve', () =>
      resolveVerdicts(db, { index, head: head!, verify }, 1),
    );
  return true;
}

/** Milliseconds between steps of the scrub: each writes a row and reads up to 8,000. */
const SCRUB_INTERVAL_MS = 10_000;

/**
 * Runs a step of the scrub. Damage is noted in D1, so that every read of the ledger is an error.
 */
async function scrubIfDue({ db, memory, ledgerParts = [] }: UpkeepContext): Promise<boolean> {
  const { upkeep } = memory;
  if (!hasPassed(SCRUB_INTERVAL_MS, upkeep.scrubbedAt, Date.now())) return true;
  try {
    const tables = ledgerParts.flatMap((part) => part.tables ?? []);
    const isRound = await memory.step('scrub', () => scrub(db, undefined, tables));
    if (isRound) writeLog('info', 'follower.ledger-scrubbed', {});
  } catch (error) {
    if (!(error instanceof LedgerDamaged)) throw error;
    memory.log('error', 'follower.ledger-damaged', { reason: error.message });
  } finally {
    upkeep.scrubbedAt = Date.now();
  }
  return true;
}
