/**
 * The state of the node as health and info tell it.
 */
import type { ProtocolParametersOption } from '../../stardust/wire/milestone.ts';
import type { ProtocolParameters } from '../../stardust/wire/parameters.ts';
import type { Database } from '../core/database.ts';
import { type DatabaseSize, sizeAfter } from '../core/database-size.ts';
import { headFromRow, milestoneFromRow, SELECT_HEAD } from '../core/head.ts';
import { parametersAt, parameterTable, SELECT_PARAMETERS } from '../core/ledger-parameters.ts';
import { isPartOf } from '../core/packs.ts';

/** A milestone as far as info tells of it. */
export interface MilestoneStatus {
  index: number;
  /** Unix seconds. */
  timestamp: number;
  milestoneId: string;
}

/**
 * `following`: with its progress where one milestone takes long. `stopped`: it cannot go on.
 * `diverged`: what upstream says contradicts itself or us. Reason and progress are for people:
 * ASCII, nothing internal.
 */
export type FollowerStatus =
  | { state: 'off' }
  | { state: 'following'; progress?: string }
  | { state: 'stopped' | 'diverged'; reason: string };

/** How blocks come in, and when the newest was stored: Unix seconds, up to ten seconds late. */
export interface BlocksStatus {
  by: 'feed' | 'polling';
  newest: number | undefined;
}

export interface NodeStatus {
  /** The milestone at which the ledger stands. */
  ledger: MilestoneStatus;
  genesisIndex: number;
  /** Numbers from these on are free, of MAX_NUMBER. */
  nextBlock: number;
  nextOutput: number;
  /** The last milestone whose data is gone. */
  pruningIndex: number;
  /** Milestones before the ledger's whose states can be asked for. */
  retention: {
    /** Now: fewer than configured after an import, and while the database is nearly full. */
    kept: number;
    configured: number;
  };
  database: DatabaseSize;
  /** In force at the ledger's milestone. */
  parameters: ProtocolParameters;
  /** Announced and not in force yet, in order of their targets. */
  pendingParameters: readonly ProtocolParametersOption[];
  /** The newest milestone that an upstream has named. */
  upstream: MilestoneStatus | undefined;
  follower: FollowerStatus;
  /** Absent where nothing is followed, or was not yet. */
  blocks?: BlocksStatus;
  /** The milestone at which the network ended, by the settings; undefined while it goes on. */
  finalMilestone: number | undefined;
  /**
   * Blocks that the ledger's milestone references, a second since the one before it; 0 where that
   * is not known.
   */
  referencedBlocksPerSecond: number;
}

const SELECT_FOLLOWER = `
  SELECT state, reason, upstream_index, upstream_timestamp, upstream_id, blocks_by, newest_block
  FROM follower`;

/**
 * The first milestone whose state can be asked for; blocks of the ledger's milestone; timestamp of
 * the one before.
 */
const SELECT_EXTENT = `
  SELECT (SELECT min(idx) FROM milestone) AS first,
    (SELECT coalesce(sum(length(blocks) * 3 / 4 / 7), 0) FROM milestone_part
      WHERE ${isPartOf('key', 'h.ledger')}) AS blocks,
    (SELECT timestamp FROM milestone WHERE idx = h.ledger - 1) AS before
  FROM head h`;

/** What the settings say. */
export interface StatusSettings {
  /** Whether a network is followed: what an earlier run left behind does not count where not. */
  follows: boolean;
  finalMilestone: number | undefined;
  /** Milestones. */
  retention: number;
  /** Of the database; undefined: only the disk limits it. */
  limitBytes: number | undefined;
}

/** @returns undefined where there is no ledger */
export async function readNodeStatus(
  db: Database,
  { follows, finalMilestone, retention, limitBytes }: StatusSettings,
): Promise<NodeStatus | undefined> {
  const results = await db.batch<Record<string, unknown>>([
    db.prepare(SELECT_HEAD).bind(null),
    db.prepare(SELECT_PARAMETERS),
    db.prepare(SELECT_EXTENT),
    db.prepare(SELECT_FOLLOWER),
  ]);
  const [heads, options, extents, followers] = results.map((result) => result.results);
  const row = heads![0];
  if (row === undefined) return undefined;
  const head = headFromRow(row);
  const milestone = milestoneFromRow(row);
  if (milestone === undefined) return undefined;
  const table = parameterTable(options!);
  const extent = extents![0]!;
  const follower = follows ? followers![0] : undefined;
  const seconds = milestone.timestamp - Number(extent.before ?? milestone.timestamp);
  const blocks = follower && blocksFromRow(follower);
  return {
    ledger: { index: head.ledger, timestamp: milestone.timestamp, milestoneId: milestone.id },
    genesisIndex: head.genesis,
    nextBlock: head.nextBlock,
    nextOutput: head.nextOutput,
    pruningIndex: Math.max(Number(extent.first) - 1, 0),
    retention: { kept: Math.max(head.ledger - Number(extent.first), 0), configured: retention },
    database: { bytes: sizeAfter(results), limitBytes },
    parameters: parametersAt(table, head.ledger),
    pendingParameters: table.options.filter((option) => option.targetMilestoneIndex > head.ledger),
    upstream: follower && upstreamFromRow(follower),
    ...(blocks && { blocks }),
    follower: follows ? followerFromRow(follower) : { state: 'off' },
    finalMilestone,
    referencedBlocksPerSecond: seconds > 0 ? Number(extent.blocks) / seconds : 0,
  };
}

function upstreamFromRow(row: Record<string, unknown>): NodeStatus['upstream'] {
  if (row.upstream_index === null) return undefined;
  return {
    index: Number(row.upstream_index),
    timestamp: Number(row.upstream_timestamp),
    milestoneId: String(row.upstream_id),
  };
}

function blocksFromRow(row: Record<string, unknown>): BlocksStatus | undefined {
  const { blocks_by: by, newest_block: newest } = row;
  if (by !== 'feed' && by !== 'polling') return undefined;
  return { by, newest: newest === null ? undefined : Number(newest) };
}

function followerFromRow(row: Record<string, unknown> | undefined): FollowerStatus {
  const state = row?.state;
  if (state === 'stopped' || state === 'diverged') return { state, reason: String(row?.reason) };
  return { state: 'following', ...(row?.reason != null && { progress: String(row.reason) }) };
}
