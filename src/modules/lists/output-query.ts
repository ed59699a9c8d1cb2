/**
 * A query for unspent outputs by their content (TIP-26, `outputs` and `outputs/KIND`): all filters
 * must hold. Addresses are hex of their 33 bytes, type included; times are Unix seconds. `before`
 * and `after` exclude the second itself; an output without the condition is neither.
 */
import type { Kind } from '../../ledger/output-list/indexed-kinds.ts';
import type { AddressKey } from '../../stardust/wire/address.ts';

export interface OutputFilters {
  address?: AddressKey;
  stateController?: AddressKey;
  governor?: AddressKey;
  /** Alias that controls a foundry. */
  aliasAddress?: AddressKey;
  /**
   * Address, or return address of an expiration or a storage deposit, whatever the time; state
   * controller or governor of an alias; alias of a foundry.
   */
  unlockableByAddress?: AddressKey;
  issuer?: AddressKey;
  sender?: AddressKey;
  storageDepositReturnAddress?: AddressKey;
  expirationReturnAddress?: AddressKey;
  /** Hex digits, not none. */
  tag?: string;
  hasNativeTokens?: boolean;
  minNativeTokenCount?: number;
  maxNativeTokenCount?: number;
  hasStorageDepositReturn?: boolean;
  hasTimelock?: boolean;
  timelockedBefore?: number;
  timelockedAfter?: number;
  hasExpiration?: boolean;
  expiresBefore?: number;
  expiresAfter?: number;
  createdBefore?: number;
  createdAfter?: number;
}

/** The place of an output in every list: by the time of its milestone, then by its ID. */
export interface Position {
  createdTime: number;
  /** 68 hex digits. */
  outputId: string;
}

export interface OutputQuery {
  /** Outputs of other kinds are left out. */
  kinds: readonly Kind[];
  filters: OutputFilters;
  /** The human-readable prefixes of the addresses: they must be the network's. */
  prefixes: readonly string[];
  /** The most items of an answer; 0: all there are. */
  pageSize: number;
  /** The page begins with the first output that stands here or later. */
  from: Position;
}

export const START: Position = { createdTime: 0, outputId: '' };

/** Position after every output: times are uint32. */
export const END: Position = { createdTime: 2 ** 32, outputId: '' };

/** Negative, zero or positive. */
export function comparePositions(a: Position, b: Position): number {
  if (a.createdTime !== b.createdTime) return a.createdTime - b.createdTime;
  if (a.outputId === b.outputId) return 0;
  return a.outputId < b.outputId ? -1 : 1;
}
