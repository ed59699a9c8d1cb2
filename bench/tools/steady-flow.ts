/**
 * A network of transfers in chains that comes at a steady pace: so many blocks a second, a
 * milestone each so many seconds.
 *
 * Making 60,000 transfers takes a while, so what was made once is kept in the folder for temporary
 * files: the process that pushes the network reads it there.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { ConflictReason } from '../../src/stardust/semantics/verdict.ts';
import { type Decided, pastCone } from '../../test/support/network/known-verdicts.ts';
import type { Network, NetworkBlock } from '../../test/support/network/network-model.ts';
import { SyntheticNetwork } from '../../test/support/network/synthetic-network.ts';
import type { Spend } from '../../test/support/network/transactions.ts';
import { basic } from '../../test/support/payloads/outputs.ts';

export interface FlowPace {
  /** Blocks. */
  perSecond: number;
  seconds: number;
  /** Seconds from one milestone to the next; the last one is the end. */
  milestoneEach: number;
}

/** Chains of transfers side by side: as many as a milestone may have parents. */
export const CHAINS = 8;

export interface SteadyFlow {
  network: Network;
  /**
   * Hex IDs in the order in which they come; chain `i` has each `CHAINS`-th from the i-th on.
   * Blocks of milestones are not among them.
   */
  transfers: string[];
  /** Of each milestone, the transfers that come before it. */
  milestonesAt: number[];
}

/** The file that it is in. */
export function keepFlow(flow: FlowPace): string {
  const { perSecond, seconds, milestoneEach } = flow;
  const folder = join(tmpdir(), 'stardust-edge-node', 'flows');
  const file = join(folder, `1-${perSecond}-${seconds}-${milestoneEach}`);
  if (existsSync(file)) return file;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${file}.draft`, serialize(makeFlow(flow)));
  renameSync(`${file}.draft`, file);
  return file;
}

export function readSteadyFlow(file: string): SteadyFlow {
  return deserialize(readFileSync(file));
}

function makeFlow({ perSecond, seconds, milestoneEach }: FlowPace): SteadyFlow {
  const network = new SyntheticNetwork({
    seed: 'flow',
    coins: (account) =>
      Array.from({ length: CHAINS }, (_, i) => basic(account(i), { amount: 1_000_000n })),
  });
  network.milestone();
  const spends: Spend[] = network.genesisCoins.map((coin, i) => ({ coin, by: network.account(i) }));
  const heads = new Array<string>(CHAINS).fill(network.milestoneBlock!);
  const transfers: string[] = [];
  const milestonesAt: number[] = [0];
  for (let at = 0; at < perSecond * seconds; at++) {
    const chain = at % CHAINS;
    const { coin, by } = spends[chain]!;
    const made = network.transaction([{ coin, by }], [basic(by, { amount: coin.output.amount })]);
    // so that each chain has the last milestone's block in its past
    const parents = new Set([heads[chain]!, network.milestoneBlock!]);
    const id = network.attachTransaction(made, [...parents]);
    spends[chain] = { coin: made.coins[0]!, by };
    heads[chain] = id;
    transfers.push(id);
    if ((at + 1) % (perSecond * milestoneEach) !== 0) continue;
    network.milestone({ parents: heads });
    milestonesAt.push(at + 1);
  }
  return { network: network.toNetwork(), transfers, milestonesAt };
}

/**
 * The parents of a question when so many transfers have come: the newest of each chain, or of one.
 */
export function headsAt({ transfers }: SteadyFlow, come: number, all: boolean): string[] {
  return transfers.slice(come - (all ? CHAINS : 1), come);
}

/** The right answers to questions about such a network. */
export class FlowOracle {
  readonly #network: Network;
  /** Of the milestone that was asked about last. */
  #before: { index: number; blocks: Map<string, NetworkBlock> } | undefined;

  constructor({ network }: SteadyFlow) {
    this.#network = network;
  }

  /** The cone, in its order; none of the transfers conflicts. */
  answer(index: number, parents: readonly string[]): Decided[] {
    const { order } = pastCone(this.#blocksBefore(index), parents);
    return order.map((block): Decided => {
      const { state } = this.#network.blocks.get(block.id)!.referenced!;
      return { block, transaction: undefined, state, conflict: ConflictReason.None };
    });
  }

  /** The blocks as they were before that milestone. */
  #blocksBefore(index: number): Map<string, NetworkBlock> {
    if (this.#before?.index === index) return this.#before.blocks;
    const blocks = new Map<string, NetworkBlock>();
    for (const [id, { referenced, ...block }] of this.#network.blocks) {
      const isBefore = referenced !== undefined && referenced.index < index;
      blocks.set(id, { ...block, ...(isBefore && { referenced }) });
    }
    this.#before = { index, blocks };
    return blocks;
  }
}
