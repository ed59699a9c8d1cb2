/**
 * Base tokens of public networks, as their nodes have them. No ledger holds a token.
 */
import type { BaseToken } from '../../../platform/json-schemas.ts';

function token(name: string, tickerSymbol: string, subunit?: string): BaseToken {
  return { name, tickerSymbol, unit: tickerSymbol, subunit, decimals: 6, useMetricPrefix: false };
}

const BY_NETWORK = new Map([
  ['shimmer', token('Shimmer', 'SMR', 'glow')],
  ['iota-mainnet', token('IOTA', 'IOTA', 'micro')],
]);

/** Amounts in it are right of every network: a ledger has them in the smallest unit. */
const UNKNOWN = { ...token('smallest unit, as BASE_TOKEN is not set', 'units'), decimals: 0 };

/** @param said what an upstream of this network said */
export function baseTokenOf(networkName: string, said: BaseToken | undefined): BaseToken {
  return BY_NETWORK.get(networkName) ?? said ?? UNKNOWN;
}
