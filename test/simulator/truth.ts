/**
 * What is true of a network, by how it was made: verdicts of known transactions
 * (known-verdicts.ts), and lists that are read off its outputs and blocks. It imports nothing of the
 * product but codecs.
 */
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { type Decided, decide, pastCone, rootsOf } from '../support/network/known-verdicts.ts';
import {
  isUnspentAt,
  milestoneAt,
  type Network,
  type NetworkBlock,
  type NetworkOutput,
  parametersAt,
  type WhiteFlagCase,
  ZERO_ID,
} from '../support/network/network-model.ts';
import { eventsOfLives, type LifeEvent } from '../support/network/nft-lives.ts';
import type { SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { type PlainOutput, plainOf } from '../support/nft-list/plain-list.ts';
import { nftIdOfOutput } from '../support/payloads/outputs.ts';

export type Request = WhiteFlagCase['request'];
export type Roots = WhiteFlagCase['response'];

/**
 * `impossible`: the previous milestone is another one, time runs backwards, or no block of the
 * previous milestone is in the cone. `unknown`: there is no such block, or no such milestone yet.
 */
type NoTruth = 'impossible' | 'unknown';
export type RootsTruth = Roots | NoTruth;

interface Nft {
  nftId: string;
  output: NetworkOutput;
}

export class Truth {
  readonly #network: SyntheticNetwork;
  /** Outputs that hold NFTs, in the order in which they were booked. */
  readonly #nfts: Nft[] = [];
  #outputsSeen = 0;
  /** All outputs, in the order in which they were booked. */
  readonly #plain: ReturnType<typeof plainOf>[] = [];
  #lives: { at: number; events: Map<string, LifeEvent[]> } | undefined;

  constructor(network: SyntheticNetwork) {
    this.#network = network;
  }

  roots(request: Request): RootsTruth {
    const decided = this.decided(request);
    if (typeof decided === 'string') return decided;
    const roots = rootsOf(decided);
    return {
      inclusionMerkleRoot: toHex(roots.inclusionMerkleRoot),
      appliedMerkleRoot: toHex(roots.appliedMerkleRoot),
    };
  }

  /** The blocks that lead to the roots, in their order. */
  decided(request: Request): Decided[] | NoTruth {
    const network = this.#network;
    const { index, timestamp, parents, previousMilestoneId } = request;
    const isFirst = index === network.genesis.index + 1;
    const before = milestoneAt(network, index - 1);
    if (!isFirst && before === undefined) return 'unknown';
    if (previousMilestoneId !== (isFirst ? ZERO_ID : before!.id)) return 'impossible';
    if (!isFirst && before!.timestamp >= timestamp) return 'impossible';
    if (parents.some((id) => id !== ZERO_ID && !network.blocks.has(id))) return 'unknown';
    const isOpen = ({ referenced }: NetworkBlock) =>
      referenced === undefined || referenced.index >= index;
    const { order, met } = pastCone(network.blocks, parents, isOpen);
    const isMet = isFirst || [...met].some((id) => this.#carries(id, index - 1, before!.id));
    if (!isMet) return 'impossible';
    const ledger = { get: (id: string) => outputBefore(network.outputs.get(id), index) };
    return decide(order, network.transactions, ledger, timestamp);
  }

  #carries(id: string, index: number, milestoneId: string): boolean {
    const block = this.#network.blocks.get(id);
    return block?.milestoneIndex === index && milestoneAt(this.#network, index)?.id === milestoneId;
  }

  /** Hex IDs without 0x of all NFTs that ever were. */
  get nftIds(): string[] {
    this.#look();
    return [...new Set(this.#nfts.map(({ nftId }) => nftId))];
  }

  /** The unspent output that holds the NFT once milestone `index` is applied. */
  nftOutput(nftId: string, index: number): string | undefined {
    this.#look();
    const found = this.#nfts.find(
      (each) => each.nftId === nftId && isUnspentAt(each.output, index),
    );
    return found?.output.outputId.toHex();
  }

  /** Outputs that are unspent once milestone `index` is applied; all that ever were without it. */
  plainOutputs(index?: number): PlainOutput[] {
    this.#look();
    return this.#plain.filter(({ held }) => index === undefined || isUnspentAt(held, index));
  }

  /** The NFTs that milestones after `from` and up to `to` changed, sorted. */
  changedNfts(from: number, to: number): string[] {
    this.#look();
    const isBetween = (index?: number) => index !== undefined && index > from && index <= to;
    const changed = this.#nfts.filter(
      ({ output: { bookedIndex, spent } }) => isBetween(bookedIndex) || isBetween(spent?.index),
    );
    return [...new Set(changed.map(({ nftId }) => nftId))].sort();
  }

  /** What became of the NFT up to milestone `index`, newest first. */
  history(nftId: string, index: number): LifeEvent[] {
    const at = this.#network.milestones.length;
    if (this.#lives?.at !== at) this.#lives = { at, events: eventsOfLives(this.#network) };
    const events = this.#lives.events.get(nftId) ?? [];
    return events.filter((event) => event.index <= index).reverse();
  }

  #look(): void {
    const { outputs } = this.#network;
    if (outputs.size === this.#outputsSeen) return;
    for (const output of [...outputs.values()].slice(this.#outputsSeen)) {
      const plain = plainOf(output);
      this.#plain.push(plain);
      const nftId = nftIdOfOutput(plain.output, output.outputId);
      if (nftId !== undefined) this.#nfts.push({ nftId: nftId.toHex(), output });
    }
    this.#outputsSeen = outputs.size;
  }
}

/** As the ledger has it before milestone `index`. */
function outputBefore(
  output: NetworkOutput | undefined,
  index: number,
): Pick<NetworkOutput, 'spent'> | undefined {
  if (output === undefined || output.bookedIndex >= index) return undefined;
  const { spent } = output;
  return spent === undefined || spent.index >= index ? {} : { spent };
}

/** The beginning of addresses as text once milestone `index` is applied. */
export const prefixAt = (network: Network, index: number): string =>
  parametersAt(network, index).parameters.bech32Hrp;
