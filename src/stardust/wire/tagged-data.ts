/**
 * Tagged data payload, type 5 (TIP-0023; docs/protocol.md, A.2).
 */
import { byteString, type Codec, constant, record, u8, u32 } from '../encoding/codec.ts';

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
