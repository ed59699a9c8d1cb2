/**
 * GET /api/core/v2/info (TIP-25), whose full shape iota-sdk insists on, and GET /api/routes, where
 * iota.go and wasp look for the indexer (docs/protocol.md#what-clients-expect).
 */
import { version } from '../../../../package.json';
import type { MilestoneStatus, NodeStatus } from '../../../ledger/read/node-status.ts';
import { type BaseToken, baseTokenSchema } from '../../../platform/json-schemas.ts';
import { toHex } from '../../../stardust/encoding/bytes.ts';
import { PROTOCOL_VERSION } from '../../../stardust/parameter-table.ts';
import type { ProtocolParametersOption } from '../../../stardust/wire/milestone.ts';
import { type Answer, jsonAnswer } from '../../answer.ts';
import { noLedger } from '../../ledger-answer.ts';
import * as json from '../../openapi/json-schema.ts';
import type { Operations } from '../../openapi/operation.ts';
import type { Route, RouteContext, RouteTable } from '../../route.ts';
import { BLOCKS_HEADERS, blocksHeaders, whyUnhealthy } from '../node/health.ts';

export const infoRoutes = {
  readInfo: { method: 'GET', path: '/api/core/v2/info', keep: 'second', handle: answerInfo },
  listApis: { method: 'GET', path: '/api/routes', keep: 'second', handle: answerApiRoutes },
} satisfies RouteTable;

async function answerInfo({ node, settings }: RouteContext): Promise<Answer> {
  const status = await node.readStatus();
  if (status === undefined) throw noLedger();
  const now = Date.now();
  return jsonAnswer(infoToJson(status, settings.baseToken, now), {
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
  return {
    name: 'stardust-edge-node',
    version,
    status: {
      isHealthy: whyUnhealthy(status, now) === undefined,
      latestMilestone: {
        ...milestoneToJson(latest),
        // an upstream that has only a snapshot names it by its index alone; iota-sdk's wallet takes
        // no node whose latest milestone is older than five minutes
        ...((isFinal || latest.timestamp === 0) && { timestamp: undefined }),
        ...(/^0*$/.test(latest.milestoneId) && { milestoneId: undefined }),
      },
      confirmedMilestone: milestoneToJson(ledger),
      pruningIndex: status.pruningIndex,
    },
    supportedProtocolVersions: [PROTOCOL_VERSION],
    protocol: { ...parameters, tokenSupply: `${parameters.tokenSupply}` },
    pendingProtocolParameters: status.pendingParameters.map(pendingToJson),
    baseToken:
      baseToken ?? BASE_TOKENS.get(parameters.networkName) ?? status.baseToken ?? UNKNOWN_TOKEN,
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

function token(name: string, tickerSymbol: string, subunit?: string): BaseToken {
  return { name, tickerSymbol, unit: tickerSymbol, subunit, decimals: 6, useMetricPrefix: false };
}

/** Base tokens of public networks, as their nodes have them. No ledger holds a token. */
const BASE_TOKENS = new Map([
  ['shimmer', token('Shimmer', 'SMR', 'glow')],
  ['iota-mainnet', token('IOTA', 'IOTA', 'micro')],
]);

/** Amounts in it are right of every network: a ledger has them in the smallest unit. */
const UNKNOWN_TOKEN = { ...token('smallest unit, as BASE_TOKEN is not set', 'units'), decimals: 0 };

/** An option of a milestone as TIP-25 shows it: empty bytes are the empty text. */
function pendingToJson(option: ProtocolParametersOption) {
  const { type, targetMilestoneIndex, protocolVersion, parameters } = option;
  const params = parameters.length === 0 ? '' : toHex(parameters);
  return { type, targetMilestoneIndex, protocolVersion, params };
}

async function answerApiRoutes({ node, settings, modules }: RouteContext): Promise<Answer> {
  const offered = modules
    .flatMap(({ routes = {} }) => Object.values<Route>(routes))
    .filter(({ isOffered }) => isOffered === undefined || isOffered(settings))
    .flatMap(({ path }) => /^\/api\/(\w+\/v\d+)(?:\/|$)/.exec(path)?.slice(1) ?? []);
  const routes = [...new Set(['core/v2', 'indexer/v1', ...offered])].sort();
  return jsonAnswer({ routes, indexed: await node.readIndexedKinds() });
}

export function describeInfo(): Operations<typeof infoRoutes> {
  const milestone = json.namedObject('MilestoneStatus', {
    index: json.milestoneIndexSchema,
    timestamp: json.unixTimeSchema,
    milestoneId: json.hashSchema,
  });
  const rentStructure = json.namedObject('RentStructure', {
    vByteCost: json.uint32Schema,
    vByteFactorData: json.uint32Schema,
    vByteFactorKey: json.uint32Schema,
  });
  const info = json.objectOf({
    name: json.textSchema,
    version: json.textSchema,
    status: json.namedObject('NodeStatus', {
      isHealthy: json.flagSchema,
      latestMilestone: json.namedObject(
        'LatestMilestone',
        { index: json.milestoneIndexSchema },
        {
          timestamp: json.described(
            'Absent at the final milestone, and where the upstream does not say it.',
            json.unixTimeSchema,
          ),
          milestoneId: json.hashSchema,
        },
      ),
      confirmedMilestone: milestone,
      pruningIndex: json.milestoneIndexSchema,
    }),
    supportedProtocolVersions: json.arrayOf(json.uint8Schema),
    protocol: json.namedObject('ProtocolParameters', {
      version: json.uint8Schema,
      networkName: json.textSchema,
      bech32Hrp: json.textSchema,
      minPowScore: json.uint32Schema,
      belowMaxDepth: json.uint8Schema,
      rentStructure,
      tokenSupply: json.uint64Schema,
    }),
    pendingProtocolParameters: json.arrayOf(json.protocolParametersOptionSchema),
    baseToken: json.named('BaseToken', baseTokenSchema),
    metrics: json.namedObject('NodeMetrics', {
      blocksPerSecond: json.numberSchema,
      referencedBlocksPerSecond: json.numberSchema,
      referencedRate: json.numberSchema,
    }),
    features: json.arrayOf(json.textSchema),
  });
  return {
    readInfo: {
      tag: 'core',
      summary: 'The node and its protocol parameters (TIP-25)',
      answer: {
        description: 'The node.',
        schema: json.named('Info', info),
        ledgerIndex: 'named',
        headers: BLOCKS_HEADERS,
      },
      example: '/api/core/v2/info',
    },
    listApis: {
      tag: 'node',
      summary: 'The APIs of this node that clients look for',
      answer: {
        description: 'Their names.',
        schema: json.namedObject('ApiRoutes', {
          routes: json.arrayOf(json.textSchema),
          indexed: json.described('Kinds of outputs in lists.', json.arrayOf(json.textSchema)),
        }),
      },
      example: '/api/routes',
    },
  };
}
