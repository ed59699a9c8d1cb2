/** Base tokens of public networks, as their nodes have them. No ledger holds a token. */
import type { BaseToken } from '../../../platform/json-schemas.ts';

const SHIMMER: BaseToken = {
  name: 'Shimmer',
  tickerSymbol: 'SMR',
  unit: 'SMR',
  subunit: 'glow',
  decimals: 6,
  useMetricPrefix: false,
};

const BY_NETWORK: Record<string, BaseToken> = {
  shimmer: SHIMMER,
  'iota-mainnet': {
    ...SHIMMER,
    name: 'IOTA',
    tickerSymbol: 'IOTA',
    unit: 'IOTA',
    subunit: 'micro',
  },
};

/** Amounts in it are right of every network: a ledger has them in the smallest unit. */
const UNKNOWN: BaseToken = {
  name: 'smallest unit, as BASE_TOKEN is not set',
  tickerSymbol: 'units',
  unit: 'units',
  subunit: '',
  decimals: 0,
  useMetricPrefix: false,
};

/** @param said what an upstream of this network said */
export function baseTokenOf(networkName: string, said: BaseToken | undefined): BaseToken {
  return BY_NETWORK[networkName] ?? said ?? UNKNOWN;
}
