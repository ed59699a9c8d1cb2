/**
 * The base token by the network's human-readable prefix. No ledger holds it: HORNET takes it from
 * its configuration.
 */
export interface BaseToken {
  name: string;
  tickerSymbol: string;
  unit: string;
  subunit: string;
  decimals: number;
  useMetricPrefix: boolean;
}

const SHIMMER: BaseToken = {
  name: 'Shimmer',
  tickerSymbol: 'SMR',
  unit: 'SMR',
  subunit: 'glow',
  decimals: 6,
  useMetricPrefix: false,
};

const IOTA: BaseToken = {
  ...SHIMMER,
  name: 'IOTA',
  tickerSymbol: 'IOTA',
  unit: 'IOTA',
  subunit: 'micro',
};

/** The reference's token of private networks. */
const TEST_COIN: BaseToken = {
  ...SHIMMER,
  name: 'TestCoin',
  tickerSymbol: 'TEST',
  unit: 'TEST',
  subunit: 'testies',
};

const BY_PREFIX = new Map([
  ['smr', SHIMMER],
  ['iota', IOTA],
]);

export function baseTokenOf(bech32Hrp: string): BaseToken {
  return BY_PREFIX.get(bech32Hrp) ?? TEST_COIN;
}
