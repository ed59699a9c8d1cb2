/**
 * What a node answers to the wallet of iota-sdk that looks for the outputs of one address, over
 * plain HTTP: each of its outputs names the address, and it has the foundries of aliases.
 */
import { createServer } from 'node:http';
import type { AddressOutput } from '../../../client/balance.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { outputToJson } from '../../../src/stardust/json/rest-json.ts';
import type { RentStructure } from '../../../src/stardust/wire/parameters.ts';
import { listen } from '../edge/launch.ts';

const ZERO_ID = toHex(new Uint8Array(32));

export interface WalletNode {
  url: string;
  outputs: readonly AddressOutput[];
  /** By the bech32 address of their alias. */
  foundries: ReadonlyMap<string, readonly AddressOutput[]>;
  stop(): void;
}

/** @param unixTime of its milestone: the wallet refuses a node whose clock is another than its own */
export async function startWalletNode(
  prefix: string,
  unixTime: number,
  rentStructure: RentStructure,
): Promise<WalletNode> {
  const milestone = { index: 10, timestamp: unixTime, milestoneId: ZERO_ID };
  const answers: Record<string, unknown> = {
    '/api/routes': { routes: ['core/v2', 'indexer/v1'] },
    '/api/core/v2/info': {
      name: 'stardust-edge-node',
      version: '0.0.0',
      status: {
        isHealthy: true,
        latestMilestone: milestone,
        confirmedMilestone: milestone,
        pruningIndex: 0,
      },
      supportedProtocolVersions: [2],
      protocol: {
        version: 2,
        networkName: 'made',
        bech32Hrp: prefix,
        minPowScore: 0,
        belowMaxDepth: 15,
        rentStructure,
        tokenSupply: '1000000000000',
      },
      pendingProtocolParameters: [],
      baseToken: {
        name: 'Made',
        tickerSymbol: 'MDE',
        unit: 'MDE',
        decimals: 6,
        useMetricPrefix: false,
      },
      metrics: { blocksPerSecond: 0, referencedBlocksPerSecond: 0, referencedRate: 0 },
      features: [],
    },
  };
  const server = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://node');
    const answer = answers[pathname] ?? answerOutputs(pathname, searchParams.get('aliasAddress'));
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { error: { code: '404', message: 'not found' } }));
  });

  const listed = (outputs: readonly AddressOutput[]) => ({
    ledgerIndex: 10,
    pageSize: 1000,
    items: outputs.map(({ outputId }) => outputId),
  });

  function answerOutputs(path: string, alias: string | null): unknown {
    if (path === '/api/indexer/v1/outputs') return listed(node.outputs);
    if (path === '/api/indexer/v1/outputs/foundry') return listed(node.foundries.get(alias!) ?? []);
    const all = [...node.outputs, ...[...node.foundries.values()].flat()];
    const found = all.find(({ outputId }) => path === `/api/core/v2/outputs/${outputId}`);
    return (
      found && {
        metadata: {
          blockId: ZERO_ID,
          transactionId: found.outputId.slice(0, 66),
          outputIndex: 0,
          isSpent: false,
          milestoneIndexBooked: 5,
          milestoneTimestampBooked: unixTime - 50,
          ledgerIndex: 10,
        },
        output: outputToJson(found.output),
      }
    );
  }

  const node: WalletNode = {
    url: await listen(server),
    outputs: [],
    foundries: new Map(),
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
  return node;
}
