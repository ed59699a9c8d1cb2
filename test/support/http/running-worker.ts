/**
 * The built Worker over real HTTP, at one milestone of a recorded network that a double of a node
 * serves.
 */
import { setTimeout } from 'node:timers/promises';
import { builtWorker } from '../../../cli/lib/wrangler/build-worker.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { decodeOutput } from '../../../src/stardust/wire/ids.ts';
import { prepareFollowing } from '../edge/follow-network.ts';
import { ledgerAt, milestoneAt, type Network } from '../network/network-model.ts';
import {
  type RecordedName,
  recordedNetwork,
  recordedQuestions,
} from '../network/recorded-network.ts';
import { nftIdOfOutput } from '../payloads/outputs.ts';
import { type Facts, type Fetch, NFT } from './contract.ts';
import { checkingDescription } from './described.ts';

export interface RunningWorker {
  /** Without a slash at the end. */
  url: string;
  fetch: Fetch;
  facts: Facts;
  stop(): Promise<void>;
}

/**
 * @param more vars besides those by which it follows the network
 * @param build resolves to the folder of the Worker
 */
export async function runWorker(
  name: RecordedName,
  ledgerIndex: number,
  more: Record<string, string> = {},
  build: () => Promise<string> = builtWorker,
): Promise<RunningWorker> {
  const network = recordedNetwork(name);
  const following = await prepareFollowing(network, { confirmed: ledgerIndex });
  const edge = await following.start({ folder: await build(), vars: more, asServe: true });
  const facts = factsOf(network, name, ledgerIndex);
  const request = checkingDescription((path, init) => fetch(edge.url + path, init));
  await waitForIndex(request, facts);
  return {
    url: edge.url,
    fetch: request,
    facts,
    stop: async () => following[Symbol.asyncDispose](),
  };
}

function factsOf(network: Network, name: RecordedName, ledgerIndex: number): Facts {
  const question = recordedQuestions(name).find(
    (each) => each.ledgerIndex === ledgerIndex && each.status === 200,
  );
  const nft = ledgerAt(network, ledgerIndex)
    .map(({ outputId, bytes }) => ({
      outputId,
      nftId: nftIdOfOutput(decodeOutput(bytes), outputId),
    }))
    .find(({ nftId }) => nftId !== undefined);
  if (question === undefined || nft?.nftId === undefined)
    throw new Error(`nothing to ask at milestone ${ledgerIndex}`);
  return {
    ledgerIndex,
    genesisIndex: network.genesis.index,
    ledgerTimestamp: milestoneAt(network, ledgerIndex)!.timestamp,
    nftId: toHex(nft.nftId),
    nftOutputId: toHex(nft.outputId),
    whiteFlag: question.request as Facts['whiteFlag'],
    roots: question.response as Facts['roots'],
  };
}

/**
 * The Worker follows by itself, woken by its first request; the NFT index comes after the ledger.
 */
async function waitForIndex(request: Fetch, { nftId, ledgerIndex }: Facts): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const { headers } = await request(NFT + nftId);
    if (headers.get('x-ledger-index') === String(ledgerIndex)) return;
    if (Date.now() > deadline)
      throw new Error(`the Worker stays at milestone ${headers.get('x-ledger-index')}`);
    await setTimeout(100);
  }
}
