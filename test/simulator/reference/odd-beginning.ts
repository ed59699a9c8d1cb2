/**
 * How odd networks begin: at the ends of indexes and times, with protocol parameters at theirs.
 */
import type { ProtocolParameters } from '../../../src/stardust/wire/parameters.ts';
import type { Random } from '../../support/network/random.ts';
import type { SyntheticOptions } from '../../support/network/synthetic-network.ts';

const MAX_UINT32 = 2 ** 32 - 1;

const NAMES = [
  '',
  'a',
  '\0',
  '<a href="&">',
  'q"\\\n',
  '\ufeffbom',
  '网络🦀',
  'é'.repeat(127),
  'n'.repeat(255),
];
const PREFIXES = [
  '',
  'a',
  'smr',
  '1',
  'a1b',
  '~!#/+',
  'A',
  'x'.repeat(83),
  'y'.repeat(255),
  '日本',
];

export interface OddBeginning {
  options: Pick<
    SyntheticOptions,
    'genesisIndex' | 'genesisTimestamp' | 'keyCount' | 'threshold' | 'ranges' | 'parameters'
  >;
  /** Multiple of the usual amounts. */
  scale: bigint;
  /** Whether the treasury holds all that is left of 2^64 - 1. */
  isFull: boolean;
}

/** @param milestones that the network is going to have */
export function oddBeginning(random: Random, milestones: number): OddBeginning {
  const last = MAX_UINT32 - milestones;
  const genesisIndex = random.pick([0, 1, 7, 2 ** 31 - 5, last, last - 1]);
  const keyCount = random.pick([1, 2, 3, 9]);
  const ranges = Array.from({ length: keyCount }, (): [number, number] => {
    const first = genesisIndex + random.between(0, milestones);
    return [
      first,
      random.pick([0, first, first + random.below(MAX_UINT32 - first + 1), first + 3]),
    ];
  }).map(([first, end]): [number, number] => [first, Math.min(end, MAX_UINT32)]);
  const counts = Array.from({ length: milestones }, (_, i) => {
    const index = genesisIndex + 1 + i;
    return ranges.filter(([first, end]) => first <= index && (end === 0 || index <= end)).length;
  });
  const least = Math.min(...counts);
  const rich = random.chance(0.4);
  const factors = rich ? [0, 1, 2, 255] : [0, 1, 10];
  const parameters: Partial<ProtocolParameters> = {
    networkName: random.pick(NAMES),
    bech32Hrp: random.pick(PREFIXES),
    belowMaxDepth: random.pick([0, 1, 15, 255]),
    rentStructure: {
      vByteCost: random.pick(rich ? [MAX_UINT32, MAX_UINT32, 2 ** 31] : [0, 1, 500]),
      vByteFactorData: random.pick(factors),
      vByteFactorKey: random.pick(factors),
    },
  };
  return {
    options: {
      genesisIndex,
      genesisTimestamp: random.pick([
        0,
        1,
        2 ** 31 - 60,
        MAX_UINT32 - 40 * milestones,
        1_700_000_000,
      ]),
      // one more that may always sign
      keyCount: keyCount + 1,
      threshold: random.pick([1, least + 1]),
      ranges: [...ranges, [0, 0]],
      parameters,
    },
    scale: rich ? 100_000_000n : 1n,
    isFull: random.chance(0.5),
  };
}
