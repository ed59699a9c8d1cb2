/**
 * All that the built Worker needs to follow a network: a data folder with the network's ledger, a
 * double of a node that serves the network, and vars that name both.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtWorker } from '../../../cli/lib/wrangler/build-worker.ts';
import { openLocalDatabase } from '../../../cli/lib/wrangler/local-database.ts';
import { readWranglerConfig } from '../../../cli/lib/wrangler/wrangler-config.ts';
import { loadSnapshot } from '../../../src/ledger/import/load-snapshot.ts';
import { type DoubleOptions, NodeDouble } from '../hornet-double/hornet-double.ts';
import { asFile } from '../ledger/ledger-harness.ts';
import type { Network } from '../network/network-model.ts';
import { fullSnapshot } from '../network/network-snapshot.ts';
import { SteadyNetwork } from '../network/steady-network.ts';
import type { SyntheticNetwork } from '../network/synthetic-network.ts';
import { type Edge, type EdgeOptions, startEdge } from './edge.ts';

export interface Following extends AsyncDisposable {
  double: NodeDouble;
  /** The data folder. */
  persistTo: string;
  vars: Record<string, string>;
  /** Starts the Worker. Whatever still runs at the end is stopped. */
  start(options?: Omit<Partial<EdgeOptions>, 'persistTo'>): Promise<Edge>;
}

/** @param ledger the milestone of the ledger in the data folder; default: the genesis */
export async function prepareFollowing(
  network: Network,
  { ledger = network.genesis.index, ...doubleOptions }: DoubleOptions & { ledger?: number } = {},
): Promise<Following> {
  const persistTo = await mkdtemp(join(tmpdir(), `following-${network.name}-`));
  await importNetwork(network, persistTo, ledger);
  const double = await NodeDouble.start(network, doubleOptions);
  const vars = varsOf(network, double.url);
  const edges: Edge[] = [];
  return {
    double,
    persistTo,
    vars,
    async start({ vars: more, ...options } = {}) {
      const folder = await builtWorker();
      const edge = await startEdge({ folder, persistTo, ...options, vars: { ...vars, ...more } });
      edges.push(edge);
      return edge;
    },
    async [Symbol.asyncDispose]() {
      for (const edge of edges) await edge.stop();
      await double.stop();
      await rm(persistTo, { recursive: true, force: true });
    },
  };
}

/** Writes the network's ledger at milestone `index` into a data folder, as an import leaves it. */
async function importNetwork(network: Network, persistTo: string, index: number): Promise<void> {
  const db = await openLocalDatabase(persistTo, readWranglerConfig());
  await loadSnapshot(db, asFile(fullSnapshot(network, { target: index })), undefined);
  db.close();
}

/** What the Worker is told of a network and its node. */
export function varsOf({ keys: { keys, threshold } }: Pick<Network, 'keys'>, upstream: string) {
  return {
    UPSTREAM_URL: upstream,
    MILESTONE_PUBLIC_KEYS: keys.map(({ publicKey }) => publicKey.toHex()).join(),
    MILESTONE_THRESHOLD: String(threshold),
  };
}

/** What the nodes of long tests follow: each milestone has as many blocks as the one before. */
const RATE = { blocks: 20, transactions: 10, nfts: 4 };

export interface Moving extends Following {
  network: SyntheticNetwork;
  /** Goes on until `halt`: a milestone each so many milliseconds. */
  move(everyMs: number): void;
  halt(): Promise<void>;
}

/** A network at milestone 1 that can go on by itself, and all that the Worker needs to follow it. */
export async function prepareMoving(
  seed: string,
  { turns, ...options }: DoubleOptions & { turns?: number } = {},
): Promise<Moving> {
  const steady = new SteadyNetwork(seed, RATE, turns);
  const { network } = steady;
  network.milestone();
  const following = await prepareFollowing(network, { confirmed: 1, ...options });
  let moves = false;
  let moving: Promise<void> | undefined;
  const goOn = async (everyMs: number) => {
    while (moves) {
      await steady.makeMilestone(async () => {});
      following.double.confirm(network.nextIndex - 1);
      await sleep(everyMs);
    }
  };
  return {
    ...following,
    network,
    move(everyMs) {
      moves = true;
      moving = goOn(everyMs);
    },
    async halt() {
      moves = false;
      await moving;
    },
  };
}
