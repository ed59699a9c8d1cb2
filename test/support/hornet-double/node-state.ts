/**
 * What a HORNET node that follows a network knows at one moment: the blocks that it has, the
 * milestones, and how it describes itself.
 */
import { type Json, optionToJson } from '../../../src/stardust/json/rest-json.ts';
import {
  lastIndex,
  milestoneAt,
  type Network,
  type NetworkBlock,
  type NetworkMilestone,
  parametersAt,
} from '../network/network-model.ts';

type JsonObject = { [key: string]: Json };

export class NodeState {
  readonly network: Network;
  /**
   * What the node says of itself in /health and info. The reference counts as healthy only, among
   * other things, with a milestone younger than five minutes.
   */
  healthy = true;
  /** Whether gossip brought what it had pruned once more: it does not know that it was referenced. */
  hasGossip = false;
  #confirmed: number;
  #latest: number;
  #pruned: number;
  /** With the number of blocks that they were found among: the network may grow. */
  #tips: { ids: string[]; among: number } | undefined;

  constructor(network: Network, confirmed: number) {
    this.network = network;
    this.#confirmed = confirmed;
    this.#latest = confirmed;
    this.#pruned = network.genesis.index;
  }

  get confirmed(): number {
    return this.#confirmed;
  }

  /**
   * Moves to a confirmed milestone, forward or back. `latest`: the newest milestone whose block the
   * node has, solid or not.
   */
  confirm(index: number, latest: number = index): void {
    const { genesis } = this.network;
    if (index < genesis.index || latest < index || latest > lastIndex(this.network)) {
      throw new RangeError(`${this.network.name} has no milestones ${index} and ${latest}`);
    }
    this.#confirmed = index;
    this.#latest = latest;
    this.#tips = undefined;
  }

  /**
   * Forgets the blocks that milestones up to `index` reference, and these milestones.
   */
  prune(index: number): void {
    this.#pruned = index;
    this.#tips = undefined;
  }

  /** Two milestones behind at most. The reference must also have heard of one since its start. */
  get almostSynced(): boolean {
    return this.#confirmed >= this.#latest - 2;
  }

  block(id: string): NetworkBlock | undefined {
    const block = this.network.blocks.get(id);
    if (block === undefined || (this.#isPruned(block) && !this.hasGossip)) return undefined;
    const known =
      block.visibleFrom <= this.#confirmed || (block.milestoneIndex ?? Infinity) <= this.#latest;
    return known ? block : undefined;
  }

  #isReferenced(block: NetworkBlock): boolean {
    return block.referenced !== undefined && block.referenced.index <= this.#confirmed;
  }

  #isPruned(block: NetworkBlock): boolean {
    return this.#isReferenced(block) && block.referenced!.index <= this.#pruned;
  }

  milestone(index: number): NetworkMilestone | undefined {
    return index > this.#pruned && index <= this.#latest
      ? milestoneAt(this.network, index)
      : undefined;
  }

  /** Up to eight of the newest blocks without children, and with nothing below max depth below. */
  get tips(): string[] {
    const among = this.network.blocks.size;
    if (this.#tips?.among !== among) this.#tips = { ids: this.#findTips(), among };
    return this.#tips.ids;
  }

  #findTips(): string[] {
    const { blocks } = this.network;
    const open = [...blocks.values()].filter(
      (block) =>
        this.block(block.id) !== undefined &&
        block.visibleFrom <= this.#confirmed &&
        !this.#isReferenced(block),
    );
    const approved = new Set(open.flatMap(({ parents }) => parents));
    const { belowMaxDepth } = parametersAt(this.network, this.#confirmed).parameters;
    const isTip = ({ id }: NetworkBlock) =>
      !approved.has(id) && this.#confirmed - oldest.get(id)! <= belowMaxDepth;
    const oldest = new Map<string, number>();
    const oldestOf = (id: string) =>
      oldest.get(id) ?? blocks.get(id)?.referenced?.index ?? Infinity;
    for (const { id, parents } of open) oldest.set(id, Math.min(...parents.map(oldestOf)));
    return open
      .filter(isTip)
      .map(({ id }) => id)
      .slice(-8);
  }

  metadataJson(block: NetworkBlock): JsonObject {
    const { id, parents, milestoneIndex } = block;
    const solid = block.visibleFrom <= this.#confirmed && !this.#isPruned(block);
    const isKnown = this.#isReferenced(block) && !this.#isPruned(block);
    const referenced = isKnown ? block.referenced! : undefined;
    return {
      blockId: id,
      parents: [...parents],
      isSolid: solid,
      ...(referenced === undefined ? {} : { referencedByMilestoneIndex: referenced.index }),
      ...(milestoneIndex === undefined ? {} : { milestoneIndex }),
      ...(referenced === undefined ? {} : { ledgerInclusionState: referenced.state }),
      ...(referenced?.state === 'conflicting' ? { conflictReason: referenced.conflict } : {}),
      ...(solid && referenced === undefined ? { shouldPromote: false, shouldReattach: false } : {}),
      ...(referenced === undefined ? {} : { whiteFlagIndex: referenced.whiteFlagIndex }),
    };
  }

  infoJson(): JsonObject {
    const { parameters, pending } = parametersAt(this.network, this.#confirmed);
    return {
      name: 'HORNET',
      version: '2.0.1',
      status: {
        isHealthy: this.healthy,
        latestMilestone: this.#milestoneInfo(this.#latest),
        confirmedMilestone: this.#milestoneInfo(this.#confirmed),
        pruningIndex: this.#pruned,
      },
      supportedProtocolVersions: [2],
      protocol: {
        ...parameters,
        rentStructure: { ...parameters.rentStructure },
        tokenSupply: `${parameters.tokenSupply}`,
      },
      pendingProtocolParameters: pending.map(optionToJson),
      baseToken: {
        name: 'TestCoin',
        tickerSymbol: 'TEST',
        unit: 'TEST',
        subunit: 'testies',
        decimals: 6,
        useMetricPrefix: false,
      },
      metrics: { blocksPerSecond: 1, referencedBlocksPerSecond: 1, referencedRate: 100 },
      features: ['pow'],
    };
  }

  /** Time and ID are left out where the node has no milestone: at the genesis, or at a snapshot. */
  #milestoneInfo(index: number): JsonObject {
    const milestone = this.milestone(index);
    return milestone === undefined
      ? { index }
      : { index, timestamp: milestone.timestamp, milestoneId: milestone.id };
  }
}
