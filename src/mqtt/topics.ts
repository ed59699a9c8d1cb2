/**
 * Topics of TIP-28 as inx-mqtt publishes them
 * (https://github.com/iotaledger/inx-mqtt/blob/v1.0.0-rc.2/core/mqtt/topics.go), and a codec of a
 * few bytes for each: a kind, and the ID that the topic names. A topic has one spelling: IDs in
 * lower case, addresses with the network's prefix.
 */
import { parseBech32Address, toBech32 } from '../stardust/bech32.ts';
import { concatBytes, fromHex, Reader, toHex } from '../stardust/encoding/bytes.ts';
import { decode, encode } from '../stardust/encoding/codec.ts';
import { address } from '../stardust/wire/address.ts';
import { UnlockConditionType } from '../stardust/wire/unlock-condition.ts';

/** Every new block of the node, as its bytes. */
export const BLOCKS = 'blocks';
export const TRANSACTIONS = 'blocks/transaction';
/** Suffix of `blocks` and `blocks/transaction`; a tag may follow. */
export const TAGGED_DATA = '/tagged-data';

/** The payload of a milestone, as its bytes, type first. */
export const MILESTONES = 'milestones';

/** JSON about the milestone whose cone the node has whole now; sent to new subscribers too. */
export const CONFIRMED_MILESTONE = 'milestone-info/confirmed';
export const LATEST_MILESTONE = 'milestone-info/latest';

export const REFERENCED = 'block-metadata/referenced';

/** IDs and tags as 0x and hex digits. */
export const blockMetadataTopic = (id: string) => `block-metadata/${id}`;
export const includedBlockTopic = (transactionId: string) =>
  `transactions/${transactionId}/included-block`;
export const outputTopic = (id: string) => `outputs/${id}`;
export const chainTopic = (kind: 'alias' | 'foundry' | 'nft', id: string) =>
  `outputs/${kind}/${id}`;

/** The unlock conditions that topics name, by their types. */
export const UNLOCK_NAMES = {
  [UnlockConditionType.Address]: 'address',
  [UnlockConditionType.StorageDepositReturn]: 'storage-return',
  [UnlockConditionType.Expiration]: 'expiration',
  [UnlockConditionType.StateController]: 'state-controller',
  [UnlockConditionType.Governor]: 'governor',
  [UnlockConditionType.ImmutableAlias]: 'immutable-alias',
} as const;

/**
 * Stands for any condition. The reference publishes to a topic with this very name, once for an
 * output; a filter with `+` at another place finds nothing.
 */
export const ANY_CONDITION = '+';

const SPENT = '/spent';

/** Beginning of topics with an address. */
export const UNLOCKS = 'outputs/unlock/';

export const unlockTopic = (condition: string, bech32: string, isSpent: boolean) =>
  `${UNLOCKS}${condition}/${bech32}${isSpent ? SPENT : ''}`;

/** Bytes that a topic names, as text and packed. */
interface Named {
  /** Number of bytes; 0 for a tag, which follows a byte with its length. */
  length: number;
  /** Undefined where the text is none of these. */
  read(text: string, prefix: string): Uint8Array | undefined;
  write(bytes: Uint8Array, prefix: string): string;
}

/** @param length 0: 1 to 64 bytes, as a tag has (C-7) */
function hexOf(length: number): Named {
  return {
    length,
    read: (text) => {
      const bytes = (text.length - 2) / 2;
      const fits = length === 0 ? bytes >= 1 && bytes <= 64 : bytes === length;
      return fits && /^0x(?:[0-9a-f]{2})+$/.test(text) ? fromHex(text) : undefined;
    },
    write: toHex,
  };
}

const nothing: Named = {
  length: -1,
  read: (text) => (text === '' ? new Uint8Array(0) : undefined),
  write: () => '',
};

const bech32: Named = {
  length: 33,
  read: (text, prefix) => {
    const parsed = parseBech32Address(text);
    const isOwn = parsed?.prefix === prefix && toBech32(prefix, parsed.address) === text;
    return isOwn ? encode(address, parsed.address) : undefined;
  },
  write: (bytes, prefix) => toBech32(prefix, decode(address, bytes)),
};

/** Text before and after the bytes that a topic of this kind names. */
type Kind = readonly [before: string, named: Named, behind: string];

/** A kind's number is its place here: it is in the attachments of connected clients. */
const KINDS: readonly Kind[] = [
  ...[
    LATEST_MILESTONE,
    CONFIRMED_MILESTONE,
    MILESTONES,
    BLOCKS,
    BLOCKS + TAGGED_DATA,
    TRANSACTIONS,
    TRANSACTIONS + TAGGED_DATA,
    REFERENCED,
  ].map((topic): Kind => [topic, nothing, '']),
  [`${BLOCKS}${TAGGED_DATA}/`, hexOf(0), ''],
  [`${TRANSACTIONS}${TAGGED_DATA}/`, hexOf(0), ''],
  [blockMetadataTopic(''), hexOf(32), ''],
  ['transactions/', hexOf(32), '/included-block'],
  [outputTopic(''), hexOf(34), ''],
  [chainTopic('alias', ''), hexOf(32), ''],
  [chainTopic('foundry', ''), hexOf(38), ''],
  [chainTopic('nft', ''), hexOf(32), ''],
  ...[...Object.values(UNLOCK_NAMES), ANY_CONDITION].flatMap((condition) => {
    const before = unlockTopic(condition, '', false);
    return ['', SPENT].map((behind): Kind => [before, bech32, behind]);
  }),
];

/**
 * Packs a topic into at most 66 bytes; returns undefined if none is ever published to it.
 *
 * @param prefix of the network's addresses
 */
export function packTopic(topic: string, prefix: string): Uint8Array | undefined {
  for (const [kind, [before, named, behind]] of KINDS.entries()) {
    if (!topic.startsWith(before) || !topic.endsWith(behind)) continue;
    if (topic.length < before.length + behind.length) continue;
    const text = topic.slice(before.length, topic.length - behind.length);
    const bytes = named.read(text, prefix);
    if (bytes === undefined) continue;
    const length = named.length === 0 ? [bytes.length] : [];
    return concatBytes(Uint8Array.of(kind, ...length), bytes);
  }
  return undefined;
}

/** Yields the topics that {@link packTopic} packed, one after another. */
export function unpackTopics(packed: Uint8Array, prefix: string): string[] {
  const reader = new Reader(packed);
  const topics: string[] = [];
  while (reader.remaining > 0) {
    const [before, named, behind] = KINDS[reader.u8()]!;
    const length = named.length === 0 ? reader.u8() : Math.max(named.length, 0);
    topics.push(before + named.write(reader.take(length), prefix) + behind);
  }
  return topics;
}
