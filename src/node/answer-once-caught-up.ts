/**
 * Requests that wait for the follower: it applies the milestone that a request is ahead by, and
 * stores the blocks that a request names and D1 lacks.
 */
import { followerOf } from '../follower/follower-stub.ts';
import type { Database } from '../ledger/core/database.ts';
import type { NotBrought, WantedOfFollower } from '../ledger/intake/block-source.ts';
import { within } from '../platform/clock.ts';
import { describeError, writeLimitedLog } from '../platform/log.ts';
import { verifySignature } from '../platform/verify-signature.ts';
import type { Settings } from '../settings.ts';
import type { MilestoneRules } from '../stardust/milestone-keys.ts';
import type {
  Brought,
  InPlace,
  WhiteFlagOptions,
  WhiteFlagRefusal,
  WhiteFlagRequest,
} from './compute-white-flag.ts';

/** Milestones beyond the next that are worth waiting for: the follower may be a second late. */
const MAX_MILESTONES_AHEAD = 2;

const CATCH_UP_MS = 700;

/** Milliseconds after which a request stops waiting for blocks: a coordinator waits two seconds. */
const REQUEST_MS = 1500;

type Compute<Answer> = (
  db: Database,
  request: WhiteFlagRequest,
  options: WhiteFlagOptions,
) => Promise<Answer | WhiteFlagRefusal>;

interface Asked {
  request: WhiteFlagRequest;
  /** Client that is charged for what the follower fetches. */
  client: string;
  inPlace?: InPlace | undefined;
}

/** Rules of milestones by the settings; without keys no block counts as a milestone's. */
export const milestoneRulesOf = ({ milestoneKeys }: Settings): MilestoneRules => ({
  keys: milestoneKeys ?? { keys: [], threshold: 1 },
  verify: verifySignature,
});

/** Whether blocks may be fetched: without keys no milestone could be verified. */
export function mayFetch({ upstreams, milestoneKeys }: Settings): boolean {
  return upstreams.length > 0 && milestoneKeys !== undefined;
}

/**
 * Retries a request after a catch-up: a coordinator asks about the next milestone as soon as it has
 * issued one, which the replica or the ledger may not have yet.
 */
export async function answerOnceCaughtUp<Answer extends { ok: true }>(
  db: Database,
  settings: Settings,
  { request, client, inPlace }: Asked,
  compute: Compute<Answer>,
): Promise<Answer | WhiteFlagRefusal> {
  const deadline = Date.now() + REQUEST_MS;
  const { upstreams, ledger } = settings;
  const bring = mayFetch(settings)
    ? (wanted: WantedOfFollower) => bringWithin(settings, wanted, { client, deadline })
    : undefined;
  const answerFrom = (from: Database) =>
    compute(from, request, { rules: milestoneRulesOf(settings), bring, inPlace });
  const aheadOf = (result: Answer | WhiteFlagRefusal) => (result.ok ? 0 : (result.ahead ?? 0));
  const newest = () => answerFrom(ledger.withSession('first-primary'));
  let result = await answerFrom(db);
  // a replica may be that far behind
  if (aheadOf(result) > MAX_MILESTONES_AHEAD && !settings.oneIsolate) result = await newest();
  const ahead = aheadOf(result);
  if (ahead === 0 || ahead > MAX_MILESTONES_AHEAD) return result;
  if (upstreams.length > 0) await catchUp(settings);
  return newest();
}

async function catchUp(settings: Settings): Promise<void> {
  const deadline = Date.now() + CATCH_UP_MS;
  const follow = async (): Promise<void> => {
    const { behind, applied } = await followerOf(settings.follower).catchUp();
    // a milestone with a large past cone takes several
    if (behind && applied === 0 && Date.now() < deadline) await follow();
  };
  const caughtUp = follow().catch((error: unknown) =>
    writeLimitedLog('warn', 'node.not-caught-up', { error: describeError(error) }),
  );
  await within(CATCH_UP_MS, caughtUp, () => undefined);
}

/** Has the follower write what D1 lacks, and waits for it until the deadline. */
async function bringWithin(
  { follower, ledger }: Settings,
  wanted: WantedOfFollower,
  { client, deadline }: { client: string; deadline: number },
): Promise<Brought> {
  const bringing = followerOf(follower)
    .bring(wanted, client)
    .catch((error: unknown): NotBrought => {
      return { fault: 'upstream-failed', detail: describeError(error) };
    });
  const notBrought = await within(deadline - Date.now(), bringing, () => LATE);
  const db = ledger.withSession('first-primary');
  if (notBrought?.fault !== 'upstream-failed') return { db, notBrought };
  writeLimitedLog('warn', 'node.not-caught-up', { error: notBrought.detail });
  return { db, notBrought: { ...notBrought, detail: NO_BLOCKS } };
}

const LATE: NotBrought = {
  fault: 'upstream-failed',
  detail: 'upstream did not give the cone in time',
};

/** Detail of a refusal if the follower or an upstream failed, or the time ended. */
const NO_BLOCKS = 'what is missing here could not be had in time';
