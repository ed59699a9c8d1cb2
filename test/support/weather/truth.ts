/**
 * What is true about a white-flag question, by the oracle (../oracle): roots, or why there are
 * none. Answers are kept, as is what the oracle is told of each milestone.
 */
import type { WhiteFlagCase } from '../network/network-model.ts';
import { oracleView } from '../network/oracle-view.ts';
import type { SyntheticNetwork } from '../network/synthetic-network.ts';
import { type OracleView, whiteFlag } from '../oracle/oracle.ts';

export interface Roots {
  inclusionMerkleRoot: string;
  appliedMerkleRoot: string;
}

/**
 * Roots; `impossible` where the previous milestone is not in the cone, or time runs backwards;
 * `unknown` where the cone has a block that never was.
 */
export type Truth = Roots | 'impossible' | 'unknown';

export class Oracle {
  readonly #network: SyntheticNetwork;
  readonly #views = new Map<number, { view: OracleView; blocks: number; milestones: number }>();
  readonly #known = new Map<string, Truth>();

  constructor(network: SyntheticNetwork) {
    this.#network = network;
  }

  async truth(request: WhiteFlagCase['request']): Promise<Truth> {
    const key = JSON.stringify(request);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const found = await this.#compute(request);
    // a block that is not there may come yet
    if (found !== 'unknown') this.#known.set(key, found);
    return found;
  }

  async #compute(request: WhiteFlagCase['request']): Promise<Truth> {
    try {
      const result = await whiteFlag(this.#viewAt(request.index - 1), request);
      const { inclusionMerkleRoot, appliedMerkleRoot, metPreviousMilestone } = result;
      return metPreviousMilestone ? { inclusionMerkleRoot, appliedMerkleRoot } : 'impossible';
    } catch (error) {
      const { message } = error as Error;
      if (message.startsWith('block not found')) return 'unknown';
      if (/timestamp does not|index does not|disagree/.test(message)) return 'impossible';
      throw error;
    }
  }

  #viewAt(index: number): OracleView {
    const { blocks, milestones } = this.#network;
    const known = this.#views.get(index);
    if (known?.blocks === blocks.size && known.milestones === milestones.length) return known.view;
    const view = oracleView(this.#network, index);
    this.#views.set(index, { view, blocks: blocks.size, milestones: milestones.length });
    return view;
  }
}
