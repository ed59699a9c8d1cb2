/**
 * Networks with one big cone, for benches: milestone 2 references `count` notes or transfers, and
 * the block of milestone 1.
 *
 * Making 50,000 transfers takes a while, so what was made once is kept in the folder for temporary
 * files.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { blake2b256 } from '../../src/stardust/crypto/hash.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { outputId } from '../../src/stardust/wire/ids.ts';
import { readMilestone } from '../../test/support/network/blocks.ts';
import type { Network, WhiteFlagCase } from '../../test/support/network/network-model.ts';
import type { Random } from '../../test/support/network/random.ts';
import { SyntheticNetwork } from '../../test/support/network/synthetic-network.ts';
import { coin, type MadeTransaction, type Spend } from '../../test/support/network/transactions.ts';
import type { KeyPair } from '../../test/support/payloads/keys.ts';
import { basic } from '../../test/support/payloads/outputs.ts';

export interface ConeOptions {
  /**
   * Notes: tagged data. Transfers: one input, one output, one signature, each spending what the one
   * before it in its chain made.
   */
  kind: 'notes' | 'transfers';
  count: number;
  /**
   * The share of transfers that conflict: double spends, bad signatures, unknown inputs. Default:
   * 0.
   */
  conflicts?: number;
  /** The cone's width: about how many blocks are without children at once. Default: 24. */
  width?: number;
  seed?: string;
}

/** Chains of transfers side by side. */
const CHAINS = 60;

/** From the cache, or made and put there. */
export function coneNetwork(options: ConeOptions): Network {
  const folder = join(tmpdir(), 'stardust-edge-node', 'cones');
  const file = join(folder, `${options.kind}-${options.count}-${fingerprint(options)}`);
  try {
    return deserialize(readFileSync(file));
  } catch {
    const network = makeCone(options);
    mkdirSync(folder, { recursive: true });
    // in one step, as other processes may be writing the same file
    const draft = `${file}.${randomUUID()}`;
    writeFileSync(draft, serialize(network));
    renameSync(draft, file);
    return network;
  }
}

/** Of the options and of everything here that a network depends on. */
function fingerprint(options: ConeOptions): string {
  const makers = join(import.meta.dirname, '../../test/support/network');
  const sources = [import.meta.filename, ...readdirSync(makers).map((name) => join(makers, name))];
  const text = sources.sort().map((file) => readFileSync(file, 'utf8'));
  const { kind, count, conflicts = 0, width = 24, seed = '' } = options;
  const all = JSON.stringify([kind, count, conflicts, width, seed, text]);
  return blake2b256(new TextEncoder().encode(all)).toHex().slice(0, 16);
}

function makeCone({ kind, count, conflicts = 0, width = 24, seed = 'cone' }: ConeOptions): Network {
  const coins = (account: (number: number) => KeyPair) =>
    Array.from({ length: CHAINS }, (_, i) => basic(account(i), { amount: 1_000_000_000n }));
  const network = new SyntheticNetwork({ seed, coins });
  network.milestone();
  const tips = new Tips(network.milestoneBlock!, network.random, width);
  const chains = network.genesisCoins.map(
    (each, i) => new Chain(network, { coin: each, by: network.account(i) }),
  );
  for (let done = 0; done < count; done++) {
    const parents = tips.take(count - done);
    tips.add(
      kind === 'notes' ? network.note(parents) : chains[done % CHAINS]!.extend(parents, conflicts),
    );
  }
  network.milestone({ parents: [network.milestoneBlock!, ...tips.open] });
  return network.toNetwork();
}

/** What the last milestone of such a network asks the white flag, and the answer. */
export function lastQuestion(network: Network): WhiteFlagCase {
  const { payload } = network.milestones.at(-1)!;
  const { index, timestamp, parents, previousMilestoneId, ...roots } = readMilestone(payload);
  return {
    request: {
      index,
      timestamp,
      parents: parents.map(toHex),
      previousMilestoneId: toHex(previousMilestoneId),
    },
    response: {
      inclusionMerkleRoot: toHex(roots.inclusionMerkleRoot),
      appliedMerkleRoot: toHex(roots.appliedMerkleRoot),
    },
  };
}

/** A milestone has eight parents, of which the previous milestone's block is one. */
const MOST_TIPS_AT_END = 7;

/**
 * Chooses two to five parents for each block: some of the tips, the others from the newest blocks,
 * so that there are always about `width` tips.
 */
class Tips {
  readonly open: string[];
  readonly #random: Random;
  readonly #width: number;
  #newest: string[];

  constructor(first: string, random: Random, width: number) {
    this.open = [first];
    this.#newest = [first];
    this.#random = random;
    this.#width = width;
  }

  /**
   * `left`: how many blocks are still to be made, this one included; the last ones gather all tips.
   */
  take(left: number): string[] {
    const wanted = this.open.length < this.#width ? this.#random.below(2) : 2;
    const needed = this.open.length + 1 - MOST_TIPS_AT_END - 4 * (left - 1);
    const gathered = Math.min(5, Math.max(wanted, needed));
    const parents = new Set<string>();
    for (let i = 0; i < gathered; i++)
      parents.add(this.open.splice(this.#random.below(this.open.length), 1)[0]!);
    const count = this.#random.between(Math.max(2, gathered), 5);
    const others = this.#newest.filter((id) => !parents.has(id));
    return [...parents, ...this.#random.sample(others, count - gathered)];
  }

  add(id: string): void {
    this.open.push(id);
    this.#newest = [...this.#newest, id].slice(-2 * this.#width);
  }
}

/** Transfers one after the other, and attempts that fail. */
class Chain {
  readonly #network: SyntheticNetwork;
  #next: Spend;
  #spent: Spend | undefined;
  #lastBlock: string | undefined;

  constructor(network: SyntheticNetwork, first: Spend) {
    this.#network = network;
    this.#next = first;
  }

  /**
   * One more block, a conflicting one with this probability. Those of the chain before it are in
   * its past.
   */
  extend(parents: readonly string[], conflicts: number): string {
    const network = this.#network;
    const all = [
      ...new Set([...(this.#lastBlock === undefined ? [] : [this.#lastBlock]), ...parents]),
    ];
    if (network.random.chance(conflicts)) return network.attachTransaction(this.#conflict(), all);
    const by = network.account(network.random.below(CHAINS));
    const made = network.transaction(
      [this.#next],
      [basic(by, { amount: this.#next.coin.output.amount })],
    );
    this.#lastBlock = network.attachTransaction(made, all);
    this.#spent = this.#next;
    this.#next = { coin: made.coins[0]!, by };
    return this.#lastBlock;
  }

  #conflict(): MadeTransaction {
    const { random } = this.#network;
    const { coin: now, by } = this.#next;
    const outputs = [
      basic(this.#network.account(random.below(CHAINS)), { amount: now.output.amount }),
    ];
    const kind = random.below(3);
    if (kind === 0 && this.#spent !== undefined)
      return this.#network.transaction([this.#spent], outputs);
    if (kind === 1)
      return this.#network.transaction(
        [{ coin: coin(outputId(random.bytes(32), 0), now.output), by }],
        outputs,
      );
    return this.#network.transaction([this.#next], outputs, 'signature');
  }
}
