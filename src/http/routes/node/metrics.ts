/**
 * GET /metrics (docs/contract.md#metrics): the state of the node in the text format of Prometheus.
 * It reads of D1 what /health reads. Counts of the follower's object begin again with each start.
 */
import { version } from '../../../../package.json';
import type { FollowerCounts } from '../../../follower/follower-counts.ts';
import type { NodeStatus } from '../../../ledger/read/node-status.ts';
import type { Answer } from '../../answer.ts';
import type { Operations } from '../../openapi/operation.ts';
import type { RouteContext, RouteTable } from '../../route.ts';
import { whyUnhealthy } from './health.ts';
import { counter, encodeMetrics, gauge, type MetricFamily, PROMETHEUS_TYPE } from './prometheus.ts';

export const metricsRoutes = {
  readMetrics: {
    method: 'GET',
    path: '/metrics',
    mustBeNamed: true,
    keep: 'never',
    handle: answerMetrics,
  },
} satisfies RouteTable;

const FOLLOWER_STATES = ['off', 'following', 'stopped', 'failing', 'diverged'];
const BLOCKS_BY = ['feed', 'polling'];

async function answerMetrics({
  node,
  settings,
  modules,
  requestCounts,
}: RouteContext): Promise<Answer> {
  const [status, counts, ofModules] = await Promise.all([
    node.readStatus(),
    node.readFollowerCounts(),
    Promise.all(modules.map((each) => each.readMetrics?.(settings) ?? [])),
  ]);
  const families = [
    ...describeNode(status, Date.now()),
    ...(status === undefined ? [] : describeLedger(status, Date.now())),
    ...(counts === undefined ? [] : describeFollower(counts)),
    ...ofModules.flat(),
    ...(requestCounts?.families() ?? []),
  ];
  return {
    ledgerIndex: status?.ledger.index,
    headers: { 'content-type': PROMETHEUS_TYPE },
    body: encodeMetrics(families),
  };
}

/** @param now Unix milliseconds */
function describeNode(status: NodeStatus | undefined, now: number): MetricFamily[] {
  const isHealthy = whyUnhealthy(status, now) === undefined;
  return [
    gauge('stardust_build_info', 'The version that answers.', 1, { version }),
    gauge('stardust_healthy', 'Whether /health is 200.', Number(isHealthy)),
  ];
}

/** @param now Unix milliseconds */
function describeLedger(status: NodeStatus, now: number): MetricFamily[] {
  const { ledger, upstream, follower, blocks, database, retention } = status;
  const newest = blocks?.newest;
  return [
    gauge('stardust_ledger_index', 'Milestone at which the ledger stands.', ledger.index),
    gauge(
      'stardust_ledger_age_seconds',
      'Age of the milestone at which the ledger stands.',
      Math.max(0, now / 1000 - ledger.timestamp),
    ),
    {
      name: 'stardust_numbers_left',
      help: 'Numbers that can still be given to blocks and outputs.',
      type: 'gauge',
      samples: [
        { labels: { of: 'blocks' }, value: Number.MAX_SAFE_INTEGER - status.nextBlock },
        { labels: { of: 'outputs' }, value: Number.MAX_SAFE_INTEGER - status.nextOutput },
      ],
    },
    gauge('stardust_pruning_index', 'Last milestone whose state is gone.', status.pruningIndex),
    gauge(
      'stardust_retention_milestones',
      "Milestones before the ledger's whose states can be asked for.",
      retention.kept,
    ),
    gauge('stardust_database_bytes', 'Size of the database, free pages left out.', database.bytes),
    states('stardust_follower_state', 'How following goes.', FOLLOWER_STATES, follower.state),
    gauge(
      'stardust_database_limit_bytes',
      'Size at which D1 refuses to write.',
      database.limitBytes,
    ),
    gauge(
      'stardust_latest_milestone_index',
      'Newest milestone that an upstream has named.',
      upstream?.index,
    ),
    gauge(
      'stardust_ledger_lag_milestones',
      'Milestones that the ledger is behind the newest one.',
      upstream && Math.max(0, upstream.index - ledger.index),
    ),
    ...(blocks ? [states('stardust_blocks_by', 'How blocks come in.', BLOCKS_BY, blocks.by)] : []),
    gauge(
      'stardust_newest_block_age_seconds',
      'Time since the newest unreferenced block was stored, up to ten seconds too long.',
      newest === undefined ? undefined : Math.max(0, now / 1000 - newest),
    ),
  ];
}

function describeFollower({
  since,
  milestones,
  orphans,
  evicted,
  rowsWritten,
  upstreams,
}: FollowerCounts): MetricFamily[] {
  const known = Array.from(upstreams, ([place, counts]) => ({
    labels: { upstream: counts.name, place: String(place) },
    counts,
  }));
  const heard = known.flatMap(({ labels, counts: { heads } }) =>
    heads === undefined ? [] : [{ labels, heads }],
  );
  return [
    gauge(
      'stardust_follower_start_time_seconds',
      'When the object began to count, in Unix time.',
      since / 1000,
    ),
    counter('stardust_milestones_applied_total', 'Milestones applied.', [{ value: milestones }]),
    counter('stardust_blocks_dropped_total', 'Unreferenced blocks that were dropped.', [
      { labels: { why: 'orphan' }, value: orphans },
      { labels: { why: 'evicted' }, value: evicted },
    ]),
    counter('stardust_rows_written_total', 'Rows of D1 that following and publishing wrote.', [
      { value: rowsWritten },
    ]),
    {
      name: 'stardust_upstream_confirmed_index',
      help: 'Newest milestone whose past cone an upstream has whole.',
      type: 'gauge',
      samples: heard.map(({ labels, heads }) => ({ labels, value: heads.confirmed })),
    },
    {
      name: 'stardust_upstream_latest_index',
      help: 'Newest milestone that an upstream has heard of.',
      type: 'gauge',
      samples: heard.map(({ labels, heads }) => ({ labels, value: heads.latest })),
    },
    counter(
      'stardust_upstream_failures_total',
      'Times that an upstream did not answer, or not as its API does.',
      known.map(({ labels, counts }) => ({ labels, value: counts.failures })),
    ),
    counter(
      'stardust_upstream_divergences_total',
      'Times that an upstream contradicted our ledger or our keys.',
      known.map(({ labels, counts }) => ({ labels, value: counts.divergences })),
    ),
  ];
}

function states(name: string, help: string, all: readonly string[], current: string): MetricFamily {
  const samples = all.map((state) => ({ labels: { state }, value: Number(state === current) }));
  return { name, help, type: 'gauge', samples };
}

export const describeMetrics = (): Operations<typeof metricsRoutes> => ({
  readMetrics: {
    tag: 'node',
    summary: 'The state of the node for Prometheus; only where PUBLIC_ROUTES names it',
    answer: {
      description: 'Text format of Prometheus, version 0.0.4.',
      type: 'text/plain',
      ledgerIndex: 'named',
    },
  },
});
