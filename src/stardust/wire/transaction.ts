/**
 * Transaction payload, type 6 (TIP-0020; docs/protocol.md, A.3), and the tagged data that it or a
 * block may carry (TIP-0023; A.2).
 */
import {
  byteString,
  type Codec,
  constant,
  fixed,
  list,
  optionalPayload,
  record,
  u8,
  u16,
  u32,
  u64,
} from '../encoding/codec.ts';
import { refusal } from '../error.ts';
import { type Output, output } from './output.ts';
import { type Unlock, unlock, unlockLength } from './unlock.ts';

/** Tagged data payload, type 5. */
export interface TaggedData {
  type: 5;
  tag: Uint8Array;
  data: Uint8Array;
}

export const taggedData: Codec<TaggedData> = record<TaggedData>({
  type: constant('C-3', u32, 5),
  tag: byteString('C-7', u8, 0, 64),
  data: byteString('C-7', u32, 0, 32768),
});

/** Names the output that is consumed (B.4). */
export interface Input {
  type: 0;
  transactionId: Uint8Array;
  /** Position of the output in its transaction, 0 to 127 (C-11). */
  outputIndex: number;
}

export interface TransactionEssence {
  type: 1;
  /** uint64 (B.8). */
  networkId: bigint;
  inputs: Input[];
  /** 32 bytes (B.5). */
  inputsCommitment: Uint8Array;
  outputs: Output[];
  payload: TaggedData | undefined;
}

export interface Transaction {
  type: 6;
  essence: TransactionEssence;
  /** Unlocks, one for each input. */
  unlocks: Unlock[];
}

const input: Codec<Input> = record<Input>({
  type: constant('C-10', u8, 0),
  transactionId: fixed(32),
  outputIndex: u16,
});

const essence: Codec<TransactionEssence> = record<TransactionEssence>({
  type: constant('C-8', u8, 1),
  networkId: u64,
  inputs: list(u16, input, { rule: 'C-10', min: 1, max: 128, order: 'unique' }),
  inputsCommitment: fixed(32),
  outputs: list(u16, output, { rule: 'C-12', min: 1, max: 128 }),
  payload: optionalPayload('C-9', taggedData),
});

const unlocks: Codec<Unlock[]> = list(u16, unlock, { rule: 'C-37', min: 1, max: 128 });

const fields: Codec<Transaction> = record<Transaction>({
  type: constant('C-3', u32, 6),
  essence,
  unlocks,
});

export const transaction: Codec<Transaction> = {
  decode: (r) => {
    const value = fields.decode(r);
    const due = value.essence.inputs.length;
    if (value.unlocks.length !== due)
      throw refusal('C-37', `${value.unlocks.length} unlocks for ${due} inputs`);
    return value;
  },
  encode: fields.encode,
};

/** Returns the essence's bytes within the payload's: all but the type and the unlocks (B.3). */
export function essenceBytes(value: Transaction, payload: Uint8Array): Uint8Array {
  const unlocksLength = value.unlocks.reduce((length, each) => length + unlockLength(each), 2);
  return payload.subarray(4, payload.length - unlocksLength);
}
