/**
 * GET /api/core/v2/info (TIP-25) and GET /api/routes: what clients request first
 * (docs/upstream-api.md#what-clients-expect). iota-sdk insists on the full shape of the former,
 * iota.go and wasp look for the indexer in the latter.
 */
import { version } from '../../../../package.json';
import type { MilestoneStatus, NodeStatus } from '../../../node/edge-node.ts';
import { optionToJson } from '../../../stardust/json/rest-json.ts';
import { PROTOCOL_VERSION } from '../../../stardust/parameter-table.ts';
import { type Answer, jsonAnswer } from '../../answer.ts';
import { noLedger } from '../../errors.ts';
import type { RouteContext } from '../../route.ts';
import { blocksHeaders, whyUnhealthy } from '../node/health.ts';
import { baseTokenOf } from './base-token.ts';

export async function answerInfo({ node, notes }: RouteContext): Promise<Answer> {
  const status = await node.readStatus();
  if (status === undefined) throw noLedger();
  notes.ledgerIndex = status.ledger.index;
  const now = Date.now();
  return jsonAnswer(infoToJson(status, now), blocksHeaders(status, now));
}

/** `now` in Unix milliseconds. */
function infoToJson(status: NodeStatus, now: number) {
  const { ledger, upstream, parameters } = status;
  const latest = upstream !== undefined && upstream.index > ledger.index ? upstream : ledger;
  const rate = status.referencedBlocksPerSecond;
  return {
    name: 'stardust-edge-node',
    version,
    status: {
      isHealthy: whyUnhealthy(status, now) === undefined,
      latestMilestone: milestoneToJson(latest),
      confirmedMilestone: milestoneToJson(ledger),
      pruningIndex: status.pruningIndex,
    },
    supportedProtocolVersions: [PROTOCOL_VERSION],
    protocol: { ...parameters, tokenSupply: `${parameters.tokenSupply}` },
    pendingProtocolParameters: status.pendingParameters.map(optionToJson),
    baseToken: baseTokenOf(parameters.bech32Hrp),
    // this node counts the blocks that milestones reference and no others
    metrics: {
      blocksPerSecond: rate,
      referencedBlocksPerSecond: rate,
      referencedRate: rate > 0 ? 100 : 0,
    },
    features: ledger.index === status.finalMilestone ? ['finalMilestone'] : [],
  };
}

function milestoneToJson({ index, timestamp, milestoneId }: MilestoneStatus) {
  return { index, timestamp, milestoneId: `0x${milestoneId}` };
}

export async function answerApiRoutes(): Promise<Answer> {
  return jsonAnswer({ routes: ['core/v2', 'indexer/v1', 'poi/v1'] });
}
