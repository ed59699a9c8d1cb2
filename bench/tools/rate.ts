/**
 * The rate at which a network and its clients use the Worker, as `--rate` of `npm run bench` gives
 * it.
 */
import { UsageError } from '../../cli/lib/process/command-line.ts';
import type { MilestoneRate } from '../../test/support/network/steady-network.ts';

export interface Rate extends MilestoneRate {
  /** From one milestone to the next. */
  seconds: number;
  /** NFT lookups a day, those that Workers Cache answers included. */
  lookups: number;
  /** White-flag requests a day. */
  whiteflags: number;
}

/** Shimmer's; docs/cloudflare.md#costs is about it. */
export const DEFAULT_RATE: Rate = {
  blocks: 60,
  transactions: 10,
  nfts: 5,
  seconds: 5,
  lookups: 1_000_000,
  whiteflags: 1_000,
};

/** The least and the most that can be measured in a minute or so, or that can be meant. */
const BOUNDS: Record<keyof Rate, readonly [least: number, most: number]> = {
  blocks: [2, 500],
  transactions: [0, 499],
  nfts: [0, 499],
  seconds: [1, 60],
  lookups: [0, 1e9],
  whiteflags: [0, 1e9],
};

function isName(name: string): name is keyof Rate {
  return Object.hasOwn(BOUNDS, name);
}

/**
 * What is not named has its default. Throws a UsageError for what cannot be meant.
 *
 * @param text such as `blocks=60,seconds=5`
 */
export function parseRate(text: string): Rate {
  const rate = { ...DEFAULT_RATE };
  const seen = new Set<string>();
  for (const part of text.split(',')) {
    const [name, value, ...rest] = part.split('=');
    if (name === undefined || !isName(name))
      throw new UsageError(`--rate: "${part}" names none of ${Object.keys(BOUNDS).join(', ')}`);
    if (seen.has(name)) throw new UsageError(`--rate: ${name} is given twice`);
    seen.add(name);
    const [least, most] = BOUNDS[name];
    const number = Number(value);
    const isMeant = value !== undefined && rest.length === 0 && /^\d+$/.test(value);
    if (!isMeant || number < least || number > most)
      throw new UsageError(`--rate: ${name} must be a whole number from ${least} to ${most}`);
    rate[name] = number;
  }
  if (rate.transactions >= rate.blocks)
    throw new UsageError('--rate: transactions must be fewer than blocks, one is the milestone');
  if (rate.nfts > rate.transactions)
    throw new UsageError('--rate: nfts must not be more than transactions');
  return rate;
}
