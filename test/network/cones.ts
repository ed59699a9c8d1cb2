/**
 * Networks with one big cone, for benches: milestone 2 references `count` notes or transfers, and the block of milestone 1.
 *
 * Making 50,000 transfers takes a while, so what was made once is kept in the folder for temporary files.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { toHex } from '../../src/stardust/bytes.ts';
import { blake2b256 } from '../../src/stardust/hash.ts';
import { readMilestone } from './blocks.ts';
import { milestoneAt, type Network, type WhiteFlagCase } from './model.ts';
import { basic } from './outputs.ts';
import type { Random } from './random.ts';
import { SyntheticNetwork } from './synthetic.ts';
import { type Coin, coin, type MadeTransaction, type Spend } from './transactions.ts';

export interface ConeOptions {
  /** Notes: tagged data. Transfers: one input, one output, one signature, each spending what the one before it in its chain made. */
  kind: 'notes' | 'transfers';
  count: number;
  /** The share of transfers that conflict: double spends, bad signatures, unknown inputs. Default: 0. */
  conflicts?: number;
  /** About so many tips are open at once: the cone's width. Default: 24. */
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
    // in one step, as others may be at the same
    writeFileSync(`${file}.${process.pid}`, serialize(network));
    renameSync(`${file}.${process.pid}`, file);
    return network;
  }
}

/** Of the options and of everything here that a network depends on. */
function fingerprint(options: ConeOptions): string {
  const folder = import.meta.dirname;
  const sources = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const text = sources.sort().map((name) => readFileSync(join(folder, name), 'utf8'));
  const { kind, count, conflicts = 0, width = 24, seed = '' } = options;
  const all = JSON.stringify([kind, count, conflicts, width, seed, text]);
  return blake2b256(new TextEncoder().encode(all)).toHex().slice(0, 16);
}

export function makeCone({ kind, count, conflicts = 0, width = 24, seed = 'cone' }: ConeOptions): Network {
  const coins = (account: SyntheticNetwork['account']) =>
    Array.from({ length: CHAINS }, (_, i) => basic(account(i), 1_000_000_000n));
  const network = new SyntheticNetwork({ seed, coins });
  network.milestone();
  const tips = new Tips(network.milestoneBlock!, network.random, width);
  const chains = network.genesisCoins.map((each, i) => new Chain(network, { coin: each, by: network.account(i) }));
  for (let done = 0; done < count; done++) {
    const parents = tips.take(count - done);
    if (kind === 'notes') {
      tips.add(network.note(parents));
      continue;
    }
    const chain = chains[done % CHAINS]!;
    const made = network.random.chance(conflicts) ? chain.conflict() : chain.transfer();
    const id = network.attachTransaction(made, chain.withProducer(parents));
    chain.attached(made, id);
    tips.add(id);
  }
  network.milestone({ parents: [network.milestoneBlock!, ...tips.open].slice(0, 8) });
  return network.toNetwork();
}
