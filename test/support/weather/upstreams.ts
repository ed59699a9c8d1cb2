/**
 * Upstreams of a run: honest ones, which may be behind or not answer, and one that lies.
 */
import { fromHex } from '../../../src/stardust/encoding/bytes.ts';
import { NodeState } from '../hornet-double/node-state.ts';
import { directUpstream } from '../network/direct-upstream.ts';
import { lastIndex } from '../network/network-model.ts';
import type { Random } from '../network/random.ts';
import type { SyntheticNetwork } from '../network/synthetic-network.ts';
import { type Upstream, UpstreamFailure } from './edge.ts';
import type { Turns } from './turns.ts';

/** What an upstream can be wrong about. */
const LIES = [
  'calls referenced blocks open',
  'calls open blocks referenced',
  'sends other bytes',
  'has no block',
  'names wrong tips',
  'says it is ahead',
  'says it is behind',
  'sends other milestones',
  'names another network',
] as const;

export type Lie = (typeof LIES)[number];

/** None, or a few; the most dangerous one more often than the others. */
export function someLies(random: Random): Lie[] {
  const some = random.sample(LIES, random.below(3));
  return random.chance(0.4) ? [...new Set([LIES[0], ...some])] : some;
}

/** A node that has what the network has, except where it is told otherwise. */
export class WeatherNode {
  readonly #network: SyntheticNetwork;
  readonly #state: NodeState;
  /** Milestones that it is behind. */
  lag = 0;
  /** Whether it answers. */
  up = true;
  lies = new Set<Lie>();
  /** What it sends in place of milestones. */
  forged: Uint8Array[] = [];
  readonly upstream: Upstream;

  constructor(
    network: SyntheticNetwork,
    name: string,
    { random, turns }: { random: Random; turns: Turns },
  ) {
    this.#network = network;
    this.#state = new NodeState(network, network.genesis.index);
    this.upstream = this.#upstream(name, random, turns);
  }

  /** Honest, with all that there is. */
  recover(): void {
    this.lag = 0;
    this.up = true;
    this.lies.clear();
  }

  #upstream(name: string, random: Random, turns: Turns): Upstream {
    const truth = directUpstream(this.#state);
    const network = this.#network;
    const blocks = () => [...network.blocks.values()];
    const answer = async <T>(ask: () => Promise<T>): Promise<T> => {
      await turns.take();
      if (!this.up) throw new UpstreamFailure(`${name} does not answer`);
      const confirmed = Math.max(network.genesis.index, lastIndex(network) - this.lag);
      if (confirmed !== this.#state.confirmed) this.#state.confirm(confirmed);
      return ask();
    };
    /** One lie in four is not told, so that some things are true in between. */
    const tells = (lie: Lie) => this.lies.has(lie) && random.chance(0.75);
    return {
      name,
      readHeads: () =>
        answer(async () => {
          const heads = await truth.readHeads();
          const confirmed = tells('says it is ahead')
            ? heads.confirmed + random.between(1, 3)
            : tells('says it is behind')
              ? random.below(heads.confirmed + 1)
              : heads.confirmed;
          const networkName = tells('names another network') ? 'another' : undefined;
          return { ...heads, confirmed, networkName };
        }),
      readMilestone: (index) =>
        answer(async () => {
          if (!tells('sends other milestones')) return truth.readMilestone(index);
          const others = [...this.forged, ...network.milestones.map(({ payload }) => payload)];
          return random.chance(0.2) ? random.bytes(300) : random.pick(others);
        }),
      readBlock: (id) =>
        answer(async () => {
          if (tells('has no block')) return undefined;
          if (!tells('sends other bytes')) return truth.readBlock(id);
          const bytes = random.pick(blocks()).bytes;
          if (random.chance(0.5)) return bytes;
          const spoilt = network.blocks.get(`0x${id}`)?.bytes.slice() ?? bytes.slice();
          spoilt[random.below(spoilt.length)]! ^= 1 << random.below(8);
          return spoilt;
        }),
      readReference: (id) =>
        answer(async () => {
          const reference = await truth.readReference(id);
          if (typeof reference === 'number' && tells('calls referenced blocks open')) return null;
          if (reference === null && tells('calls open blocks referenced'))
            return random.between(1, Math.max(1, lastIndex(network)));
          return reference;
        }),
      readTips: () =>
        answer(async () => {
          const tips = await truth.readTips();
          if (!tells('names wrong tips')) return tips;
          const some = random.sample(blocks(), 4).map((block) => block.id.slice(2));
          return [...some, ...random.sample(tips, 2), unknownId(random).slice(2)];
        }),
    };
  }
}

/** Of a block that there is not. */
export function unknownId(random: Random): string {
  const bytes = random.bytes(32);
  bytes.set(fromHex('0xffff'), 0);
  return `0x${bytes.toHex()}`;
}
