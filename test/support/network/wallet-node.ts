/**
 * What a node answers to the wallet of iota-sdk that looks for the outputs of one address, over
 * plain HTTP: each of its outputs names the address, and it has the foundries of aliases.
 */
import { createServer } from 'node:http';
import type { AddressOutput } from '../../../client/balance.ts';
import { outputToJson } from '../../../src/stardust/json/rest-json.ts';
import type { RentStructure } from '../../../src/stardust/wire/parameters.ts';
import { listen } from '../edge/launch.ts';
import { NodeState } from '../hornet-double/node-state.ts';
import { ZERO_ID } from './network-model.ts';
import { SyntheticNetwork } from './synthetic-network.ts';

const INDEX = 10;

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
  const parameters = { bech32Hrp: prefix, rentStructure };
  const network = new SyntheticNetwork({ genesisIndex: INDEX - 1, parameters });
  network.milestone({ timestamp: unixTime });
  const answers: Record<string, unknown> = {
    '/api/routes': { routes: ['core/v2', 'indexer/v1'] },
    '/api/core/v2/info': new NodeState(network, INDEX).infoJson(),
  };
  const server = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://node');
    const answer = answers[pathname] ?? answerOutputs(pathname, searchParams.get('aliasAddress'));
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { error: { code: '404', message: 'not found' } }));
  });

  const listed = (outputs: readonly AddressOutput[]) => ({
    ledgerIndex: INDEX,
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
          ledgerIndex: INDEX,
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
