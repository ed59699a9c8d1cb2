/**
 * GET /health (docs/contract.md#health): empty, 200 or 503; X-Error-Detail has the reason,
 * X-Health-Warning what soon will be one.
 */
import { shareUsed, UNHEALTHY_AT, WARN_AT } from '../../../ledger/core/database-size.ts';
import { isMissingTable, isTold, NO_LEDGER } from '../../../ledger/core/head.ts';
import type { NodeStatus } from '../../../ledger/read/node-status.ts';
import { describeError, writeLimitedLog } from '../../../platform/log.ts';
import type { Answer } from '../../answer.ts';
import { detailHeader } from '../../errors.ts';
import type { Operations } from '../../openapi/operation.ts';
import type { RouteContext, RouteTable } from '../../route.ts';

export const healthRoutes = {
  readHealth: { method: 'GET', path: '/health', keep: 'never', handle: answerHealth },
} satisfies RouteTable;

/** Limit of HORNET. */
const MAX_AGE_SECONDS = 5 * 60;

/** Why the node is not healthy, for people; undefined if it is. `now` in Unix milliseconds. */
export function whyUnhealthy(status: NodeStatus | undefined, now: number): string | undefined {
  if (status === undefined) return NO_LEDGER;
  const { follower, genesisIndex, ledger, finalMilestone, upstream } = status;
  if (finalMilestone !== undefined && ledger.index > finalMilestone)
    return `the ledger is at milestone ${ledger.index}, beyond FINAL_MILESTONE, ${finalMilestone}`;
  if (ledger.index === finalMilestone) return undefined;
  if (follower.state !== 'off' && follower.state !== 'following')
    return `${follower.state}: ${follower.reason}`;
  if (shareUsed(status.database) >= UNHEALTHY_AT)
    return `${describeDatabase(status)}: writes are about to fail`;
  const age = Math.floor(now / 1000) - ledger.timestamp;
  if (Math.abs(age) <= MAX_AGE_SECONDS) return undefined;
  if (age < 0)
    return `milestone ${ledger.index} is ${-age} seconds ahead of this clock: one of both is wrong`;
  const progress = follower.state === 'following' ? follower.progress : undefined;
  const old =
    ledger.index === genesisIndex
      ? 'the ledger is at genesis, no milestone was followed yet'
      : `the ledger at milestone ${ledger.index} is ${age} seconds old`;
  const behind =
    upstream !== undefined && upstream.index < ledger.index
      ? `when last asked, the upstream was at ${upstream.index}`
      : undefined;
  return [old, progress, behind].filter((part) => part !== undefined).join('; ');
}

function describeDatabase({ database, retention }: NodeStatus): string {
  const gigabytes = (bytes: number) => (bytes / 1e9).toFixed(1);
  const size = `the database has ${gigabytes(database.bytes)} of ${gigabytes(database.limitBytes!)} GB`;
  const { kept, configured } = retention;
  return `${size} and keeps ${kept} milestones, RETENTION_MILESTONES is ${configured}`;
}

/** Headers: source of blocks, and seconds since the newest. `now` in Unix milliseconds. */
export function blocksHeaders(
  { blocks }: Pick<NodeStatus, 'blocks'>,
  now: number,
): Record<string, string> {
  if (blocks === undefined) return {};
  const { by, newest } = blocks;
  const age = newest === undefined ? undefined : Math.max(0, Math.floor(now / 1000) - newest);
  return { 'x-blocks-by': by, ...(age !== undefined && { 'x-newest-block-age': String(age) }) };
}

async function answerHealth(context: RouteContext): Promise<Answer> {
  const { reason, ledgerIndex, headers } = await readHealth(context);
  if (reason === undefined) return { ledgerIndex, headers, body: null };
  context.notes.detail = reason;
  return {
    status: 503,
    ledgerIndex,
    headers: { ...headers, ...detailHeader(reason) },
    body: null,
  };
}

interface Health {
  reason: string | undefined;
  ledgerIndex?: number;
  headers: Record<string, string>;
}

async function readHealth({ node }: RouteContext): Promise<Health> {
  try {
    const status = await node.readStatus();
    const now = Date.now();
    if (status === undefined) return { reason: whyUnhealthy(status, now), headers: {} };
    // for an operator, while the node is still healthy
    const warning = shareUsed(status.database) >= WARN_AT ? describeDatabase(status) : undefined;
    return {
      reason: whyUnhealthy(status, now),
      ledgerIndex: status.ledger.index,
      headers: {
        ...blocksHeaders(status, now),
        'x-ledger-fingerprint': status.fingerprint,
        ...(warning !== undefined && { 'x-health-warning': warning }),
      },
    };
  } catch (error) {
    // a client that asks for the health wants this reason too, not a failed request
    writeLimitedLog('error', 'ledger.unreadable', { error: describeError(error) });
    if (isMissingTable(error)) return { reason: NO_LEDGER, headers: {} };
    return { reason: isTold(error) ? error.message : 'the ledger cannot be read', headers: {} };
  }
}

export const BLOCKS_HEADERS = {
  'X-Blocks-By': 'How blocks arrive: feed or polling.',
  'X-Newest-Block-Age': 'Seconds since the newest unreferenced block was stored.',
};

export const describeHealth = (): Operations<typeof healthRoutes> => ({
  readHealth: {
    tag: 'node',
    summary: 'Whether the ledger is current',
    answer: {
      description: 'Healthy.',
      ledgerIndex: 'named',
      headers: {
        ...BLOCKS_HEADERS,
        'X-Ledger-Fingerprint': 'Of the unspent outputs: equal on nodes at one ledger index.',
        'X-Health-Warning': 'A problem to come, for people.',
      },
    },
    statuses: { 503: 'Not healthy; X-Error-Detail says why.' },
  },
});
