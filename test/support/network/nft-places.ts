/** Which outputs of a network held its NFTs, and when. IDs are `0x…`. */
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { decodeOutput } from '../../../src/stardust/wire/ids.ts';
import { nftIdOfOutput } from '../payloads/outputs.ts';
import { isUnspentAt, type Network, type NetworkOutput } from './network-model.ts';

/** The outputs that ever held each NFT, by its ID. */
export function holdersOf({ outputs }: Network): Map<string, NetworkOutput[]> {
  const holders = new Map<string, NetworkOutput[]>();
  for (const held of outputs.values()) {
    const nftId = nftIdOfOutput(decodeOutput(held.bytes), held.outputId);
    if (nftId === undefined) continue;
    holders.set(toHex(nftId), [...(holders.get(toHex(nftId)) ?? []), held]);
  }
  return holders;
}

/** The output that held the NFT after this milestone; undefined where none did. */
export function heldAt(holders: readonly NetworkOutput[], index: number): string | undefined {
  const held = holders.find((each) => isUnspentAt(each, index));
  return held && toHex(held.outputId);
}

type Holders = ReadonlyMap<string, readonly NetworkOutput[]>;

/** Where every NFT is after this milestone; those that are burned left out. */
export function nftsAt(holders: Holders, index: number): Map<string, string> {
  const places = [...holders].map(([id, own]) => [id, heldAt(own, index)] as const);
  return new Map(places.filter((place): place is [string, string] => place[1] !== undefined));
}

/** The NFTs that this milestone changed. */
export function nftsChangedAt(holders: Holders, index: number): string[] {
  const isChange = ({ bookedIndex, spent }: NetworkOutput) =>
    bookedIndex === index || spent?.index === index;
  return [...holders].filter(([, own]) => own.some(isChange)).map(([id]) => id);
}
