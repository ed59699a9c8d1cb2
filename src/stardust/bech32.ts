/** Addresses as text: bech32 with the network's human-readable prefix (TIP-0031, BIP-0173). */
import { bech32 } from '@scure/base';
import { toHex } from './encoding/bytes.ts';
import { decode, encode } from './encoding/codec.ts';
import { StardustError } from './error.ts';
import { type Address, address } from './wire/address.ts';

/** Characters; BIP-0173 sets the limit, for which the checksum is made. */
const MAX_LENGTH = 90;
/** Prefixes that leave room for the separator, 53 characters of an address and 6 of the checksum. */
const PREFIX = /^[!-~]{1,30}$/;

export interface Bech32Address {
  /** The human-readable prefix: it names the network. */
  prefix: string;
  address: Address;
}

/** Returns undefined unless the text is bech32 of one whole address of a known type. */
export function parseBech32Address(text: string): Bech32Address | undefined {
  const parts = bech32.decodeUnsafe(text, MAX_LENGTH);
  const bytes = parts && bech32.fromWordsUnsafe(parts.words);
  if (!bytes) return undefined;
  try {
    return { prefix: parts.prefix, address: decode(address, Uint8Array.from(bytes)) };
  } catch (error) {
    if (error instanceof StardustError) return undefined;
    throw error;
  }
}

/**
 * The address in bech32; in hex, with its type, where no text can begin with the network's prefix:
 * the protocol allows any.
 *
 * @param prefix the network's, such as `smr`
 *
 * @example
 * ```ts
 * import { parseBech32Address, toBech32 } from '@stardust-edge/protocol/bech32';
 *
 * const text = toBech32('smr', { type: 0, id: new Uint8Array(32) });
 * console.log(parseBech32Address(text)?.prefix); // smr
 * ```
 */
export function toBech32(prefix: string, value: Address): string {
  const bytes = encode(address, value);
  return PREFIX.test(prefix)
    ? bech32.encode(prefix, bech32.toWords(bytes), MAX_LENGTH)
    : toHex(bytes);
}
