/**
 * GET /api/core/v2/info (TIP-25), whose full shape iota-sdk insists on, and GET /api/routes, where
 * iota.go and wasp look for the indexer (docs/protocol.md#what-clients-expect).
 */
import { version } from '../../../../package.json';
import type { MilestoneStatus, NodeStatus } from '../../../node/edge-node.ts';
import { type BaseToken, baseTokenSchema } from '../../../platform/json-schemas.ts';
import { optionToJson } from '../../../stardust/json/rest-json.ts';
import { PROTOCOL_VERSION } from '../../../stardust/parameter-table.ts';
import { type Answer, jsonAnswer } from '../../answer.ts';
import { noLedger } from '../../ledger-answer.ts';
import { protocolParametersOptionSchema } from '../../openapi/block-schemas.ts';
import {
  arrayOf,
  described,
  flagSchema,
  hashSchema,
  milestoneIndexSchema,
  named,
  numberSchema,
  objectOf,
  textSchema,
  uint8Schema,
  uint32Schema,
  uint64Schema,
  unixTimeSchema,
} from '../../openapi/json-schema.ts';
import type { Operations, RouteTable } from '../../openapi/operation.ts';
import type { RouteContext } from '../../route.ts';
import { BLOCKS_HEADERS, blocksHeaders, whyUnhealthy } from '../node/health.ts';
import { baseTokenOf } from './base-token.ts';

export const infoRoutes = {
  readInfo: { method: 'GET', path: '/api/core/v2/info', keep: 'second', handle: answerInfo },
  listApis: { method: 'GET', path: '/api/routes', keep: 'second', handle: answerApiRoutes },
} satisfies RouteTable;

async function answerInfo({ node }: RouteContext): Promise<Answer> {
  const status = await node.readStatus();
  if (status === undefined) throw noLedger();
  const now = Date.now();
  return jsonAnswer(infoToJson(status, node.baseToken, now), {
    ledgerIndex: status.ledger.index,
    headers: blocksHeaders(status, now),
  });
}

/** `now` in Unix milliseconds. */
function infoToJson(status: NodeStatus, baseToken: BaseToken | null, now: number) {
  const { ledger, upstream, parameters } = status;
  const latest = upstream !== undefined && upstream.index > ledger.index ? upstream : ledger;
  const rate = status.referencedBlocksPerSecond;
  const isFinal = ledger.index === status.finalMilestone;
  const { timestamp: _, ...undated } = milestoneToJson(latest);
  return {
    name: 'stardust-edge-node',
    version,
    status: {
      isHealthy: whyUnhealthy(status, now) === undefined,
      // iota-sdk's wallet takes no node whose latest milestone is older than five minutes
      latestMilestone: isFinal ? undated : milestoneToJson(latest),
      confirmedMilestone: milestoneToJson(ledger),
      pruningIndex: status.pruningIndex,
    },
    supportedProtocolVersions: [PROTOCOL_VERSION],
    protocol: { ...parameters, tokenSupply: `${parameters.tokenSupply}` },
    pendingProtocolParameters: status.pendingParameters.map(optionToJson),
    baseToken: baseToken ?? baseTokenOf(parameters.networkName, status.baseToken),
    // this node counts the blocks that milestones reference and no others
    metrics: {
      blocksPerSecond: rate,
      referencedBlocksPerSecond: rate,
      referencedRate: rate > 0 ? 100 : 0,
    },
    features: isFinal ? ['finalMilestone'] : [],
  };
}

function milestoneToJson({ index, timestamp, milestoneId }: MilestoneStatus) {
  return { index, timestamp, milestoneId: `0x${milestoneId}` };
}

async function answerApiRoutes({ node }: RouteContext): Promise<Answer> {
  const indexed = await node.readIndexedKinds();
  const events = node.hasEvents ? ['mqtt/v1'] : [];
  return jsonAnswer({ routes: ['core/v2', 'edge/v1', 'indexer/v1', ...events, 'poi/v1'], indexed });
}

export function describeInfo(): Operations<typeof infoRoutes> {
  const milestone = named(
    'MilestoneStatus',
    objectOf({ index: milestoneIndexSchema, timestamp: unixTimeSchema, milestoneId: hashSchema }),
  );
  const rentStructure = named(
    'RentStructure',
    objectOf({
      vByteCost: uint32Schema,
      vByteFactorData: uint32Schema,
      vByteFactorKey: uint32Schema,
    }),
  );
  const info = objectOf({
    name: textSchema,
    version: textSchema,
    status: named(
      'NodeStatus',
      objectOf({
        isHealthy: flagSchema,
        latestMilestone: named(
          'LatestMilestone',
          objectOf(
            { index: milestoneIndexSchema, milestoneId: hashSchema },
            { timestamp: described('Absent at the final milestone.', unixTimeSchema) },
          ),
        ),
        confirmedMilestone: milestone,
        pruningIndex: milestoneIndexSchema,
      }),
    ),
    supportedProtocolVersions: arrayOf(uint8Schema),
    protocol: named(
      'ProtocolParameters',
      objectOf({
        version: uint8Schema,
        networkName: textSchema,
        bech32Hrp: textSchema,
        minPowScore: uint32Schema,
        belowMaxDepth: uint8Schema,
        rentStructure,
        tokenSupply: uint64Schema,
      }),
    ),
    pendingProtocolParameters: arrayOf(protocolParametersOptionSchema),
    baseToken: named('BaseToken', baseTokenSchema),
    metrics: named(
      'NodeMetrics',
      objectOf({
        blocksPerSecond: numberSchema,
        referencedBlocksPerSecond: numberSchema,
        referencedRate: numberSchema,
      }),
    ),
    features: arrayOf(textSchema),
  });
  return {
    readInfo: {
      tag: 'core',
      summary: 'The node and its protocol parameters (TIP-25)',
      answer: {
        description: 'The node.',
        schema: named('Info', info),
        ledgerIndex: 'named',
        headers: BLOCKS_HEADERS,
      },
      example: { path: '/api/core/v2/info' },
    },
    listApis: {
      tag: 'node',
      summary: 'The APIs of this node that clients look for',
      answer: {
        description: 'Their names.',
        schema: named(
          'ApiRoutes',
          objectOf({
            routes: arrayOf(textSchema),
            indexed: described('Kinds of outputs in lists.', arrayOf(textSchema)),
          }),
        ),
      },
      example: { path: '/api/routes' },
    },
  };
}
