/** Protocol parameters (TIP-0022; docs/protocol.md, G). */
import { equalBytes, Reader } from '../encoding/bytes.ts';
import { byteString, type Codec, record, u8, u32, u64 } from '../encoding/codec.ts';
import { refusal } from '../error.ts';
import { networkId } from './ids.ts';

export interface RentStructure {
  /** Base tokens for each virtual byte. */
  vByteCost: number;
  vByteFactorData: number;
  vByteFactorKey: number;
}

export interface ProtocolParameters {
  version: number;
  networkName: string;
  bech32Hrp: string;
  /** 0: blocks need no proof of work. */
  minPowScore: number;
  /** Milestones. */
  belowMaxDepth: number;
  rentStructure: RentStructure;
  /** Base tokens, uint64. */
  tokenSupply: bigint;
}

const shortBytes = byteString('G', u8, 0, 255);

const shortText: Codec<string> = {
  decode: (r) => {
    const bytes = shortBytes.decode(r);
    const text = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(bytes);
    if (!equalBytes(new TextEncoder().encode(text), bytes))
      throw refusal('G', 'a name that is not UTF-8');
    return text;
  },
  encode: (w, v) => shortBytes.encode(w, new TextEncoder().encode(v)),
};

export const protocolParameters: Codec<ProtocolParameters> = record<ProtocolParameters>({
  version: u8,
  networkName: shortText,
  bech32Hrp: shortText,
  minPowScore: u32,
  belowMaxDepth: u8,
  // G: the data factor comes before the key factor (H-124)
  rentStructure: record<RentStructure>({ vByteCost: u32, vByteFactorData: u8, vByteFactorKey: u8 }),
  tokenSupply: u64,
});

/**
 * Decodes the parameters of an option. Bytes after them are ignored, as by the reference (G,
 * H-123). Throws a StardustError if there are too few.
 */
export function decodeParameters(bytes: Uint8Array): ProtocolParameters {
  return protocolParameters.decode(new Reader(bytes));
}

/** Hashed once: each transaction is compared with it. */
const networkIds = new WeakMap<ProtocolParameters, bigint>();

/** The network ID that transactions must carry under these parameters, uint64 (B.8). */
export function networkIdOf(parameters: ProtocolParameters): bigint {
  let id = networkIds.get(parameters);
  if (id === undefined) {
    id = networkId(parameters.networkName);
    networkIds.set(parameters, id);
  }
  return id;
}
