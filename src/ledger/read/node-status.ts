/** State of the node for health and info. */
import type { BaseToken } from '../../platform/json-schemas.ts';
import type { ProtocolParametersOption } from '../../stardust/wire/milestone.ts';
import type { ProtocolParameters } from '../../stardust/wire/parameters.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import type { Database } from '../core/database.ts';
import { type DatabaseSize, withSize } from '../core/database-size.ts';
import { milestoneFromRow, selectLedger } from '../core/head.ts';
import { parametersAt, selectParameters } from '../core/ledger-parameters.ts';
import { readOutputBytes } from '../core/output-bytes.ts';
import { first, type Row, readBatch } from '../core/read-batch.ts';
import { summedColumns } from '../core/row-sum.ts';

export interface MilestoneStatus {
  index: number;
  timestamp: number;
  milestoneId: string;
}

/**
 * `following`: with its progress if one milestone takes long. `stopped`: it cannot go on.
 * `diverged`: an upstream contradicts itself or us. `failing`: pass after pass fails at this ledger
 * index. Reason and progress are for people: ASCII, nothing internal.
 */
export type FollowerStatus =
  | { state: 'off' }
  | { state: 'following'; progress?: string }
  | { state: 'stopped' | 'failing' | 'diverged'; reason: string };

/** Source of blocks, and Unix seconds when the newest was stored, up to ten seconds late. */
export interface BlocksStatus {
  by: 'feed' | 'polling';
  newest: number | undefined;
}

export interface NodeStatus {
  /** The milestone at which the ledger stands. */
  ledger: MilestoneStatus;
  /** Fingerprint of the unspent outputs, 13 hex digits. */
  fingerprint: string;
  genesisIndex: number;
  /** First free number, of MAX_NUMBER. */
  nextBlock: number;
  nextOutput: number;
  /** The last milestone whose data is gone. */
  pruningIndex: number;
  /** Milestones before the ledger's whose states can be asked for. */
  retention: {
    /** Current number: fewer than configured after an import, and in a nearly full database. */
    kept: number;
    configured: number;
  };
  database: DatabaseSize;
  /** Parameters in force at the ledger's milestone. */
  parameters: ProtocolParameters;
  /** Announced and not in force yet, in order of their targets. */
  pendingParameters: readonly ProtocolParametersOption[];
  /** The newest milestone that an upstream has named. */
  upstream: MilestoneStatus | undefined;
  follower: FollowerStatus;
  /** The network's token, as an upstream with the ledger's parameters named it. */
  baseToken?: BaseToken;
  /** Absent where nothing is followed, or was not yet. */
  blocks?: BlocksStatus;
  /** The milestone at which the network ended, by the settings; undefined while it goes on. */
  finalMilestone: number | undefined;
  /** Blocks that the ledger's milestone references, a second since the one before; 0 if unknown. */
  referencedBlocksPerSecond: number;
}

const SELECT_FOLLOWER = 'SELECT * FROM follower WHERE one = 1 AND ?1';

/** The first milestone whose state can be asked for, and the one before the ledger's. */
const SELECT_EXTENT = `
  SELECT (SELECT min(idx) FROM milestone) AS first,
    ${summedColumns('milestone', 'm', 'milestone_')}
  FROM head h LEFT JOIN milestone m ON m.idx = h.ledger - 1`;

export interface StatusSettings {
  /** Whether a network is followed: else what an earlier run left behind does not count. */
  follows: boolean;
  finalMilestone: number | undefined;
  /** Milestones. */
  retention: number;
  /** Bytes of the database; undefined: only the disk limits it. */
  limitBytes: number | undefined;
}

/** @returns undefined where there is no ledger */
export async function readNodeStatus(
  db: Database,
  { follows, finalMilestone, retention, limitBytes }: StatusSettings,
): Promise<NodeStatus | undefined> {
  const { at, parameters, extent, follower } = await readBatch(db, {
    at: selectLedger(db),
    parameters: selectParameters(db),
    extent: first(db.prepare(SELECT_EXTENT), (row) => ({
      first: row.integer('first'),
      before: milestoneFromRow(row)?.timestamp,
    })),
    follower: withSize(first(db.prepare(SELECT_FOLLOWER).bind(follows ? 1 : 0), (row) => row)),
  });
  if (at === undefined || extent === undefined) return undefined;
  const { head, milestone } = at;
  const isOver = head.ledger >= (finalMilestone ?? Number.POSITIVE_INFINITY);
  const token = tokenFrom(follower.value);
  // at the end nobody writes the row any more, and nothing that it says counts but why it stopped
  const saved = follower.value && head.ledger !== finalMilestone && followerFromRow(follower.value);
  const { status, upstream, blocks } = saved || NOT_FOLLOWED;
  const inForce = parametersAt(parameters, head.ledger);
  const seconds = milestone.timestamp - (extent.before ?? milestone.timestamp);
  return {
    ledger: { index: head.ledger, timestamp: milestone.timestamp, milestoneId: milestone.id },
    fingerprint: head.integrity.fingerprints.output!.toString(16).padStart(13, '0'),
    genesisIndex: head.genesis,
    nextBlock: head.nextBlock,
    nextOutput: head.nextOutput,
    pruningIndex: Math.max(extent.first - 1, 0),
    retention: { kept: Math.max(head.ledger - extent.first, 0), configured: retention },
    database: { bytes: follower.bytes, limitBytes },
    parameters: inForce,
    pendingParameters: parameters.options.filter(
      (option) => option.targetMilestoneIndex > head.ledger,
    ),
    upstream: isOver ? undefined : upstream,
    ...(blocks && !isOver && { blocks }),
    // one of before an import is of another network
    ...(token?.network === inForce.networkName && { baseToken: token.baseToken }),
    follower: follows && head.ledger !== finalMilestone ? status : { state: 'off' },
    finalMilestone,
    referencedBlocksPerSecond: seconds > 0 ? milestone.blocks / seconds : 0,
  };
}

interface SavedFollower {
  status: FollowerStatus;
  upstream: MilestoneStatus | undefined;
  blocks: BlocksStatus | undefined;
}

const NOT_FOLLOWED: SavedFollower = {
  status: { state: 'following' },
  upstream: undefined,
  blocks: undefined,
};

function followerFromRow(row: Row): SavedFollower {
  const state = row.text('state');
  if (state !== 'following' && state !== 'stopped' && state !== 'failing' && state !== 'diverged')
    throw new LedgerDamaged('rows of the table follower');
  const reason = row.textOrNull('reason');
  const index = row.integerOrNull('upstream_index');
  const by = row.textOrNull('blocks_by');
  return {
    status:
      state === 'following'
        ? { state, ...(reason !== null && { progress: reason }) }
        : { state, reason: String(reason) },
    upstream:
      index === null
        ? undefined
        : {
            index,
            timestamp: row.integer('upstream_timestamp'),
            milestoneId: row.text('upstream_id'),
          },
    blocks:
      by === 'feed' || by === 'polling'
        ? { by, newest: row.integerOrNull('newest_block') ?? undefined }
        : undefined,
  };
}

/** Reads what follower/apply-next.ts writes; if it is damaged, the next pass writes it again. */
function tokenFrom(row?: Row): { network: string; baseToken: BaseToken } | undefined {
  try {
    const text = row?.textOrNull('token') ?? null;
    return text === null
      ? undefined
      : JSON.parse(new TextDecoder().decode(readOutputBytes(text, '')));
  } catch {
    return undefined;
  }
}
