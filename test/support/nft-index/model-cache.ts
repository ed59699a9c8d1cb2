/**
 * A model of a data centre's cache for `recent`, at its worst: a match returns anything that was
 * ever put, of any age and of any ledger, or nothing, or rubbish.
 */
import type { RecentCache } from '../../../src/nft-index/cached-reads.ts';
import type { Chance } from './simulation.ts';

export class ModelCache implements RecentCache {
  readonly #chance: Chance;
  readonly #texts: string[] = [];

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  async match(): Promise<string | undefined> {
    const chance = this.#chance;
    if (this.#texts.length === 0 || chance.happens(30)) return undefined;
    if (chance.happens(5)) return '{';
    return chance.happens(70) ? this.#texts.at(-1) : chance.pick(this.#texts);
  }

  async put(text: string): Promise<void> {
    this.#texts.push(text);
  }
}
