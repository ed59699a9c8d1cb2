/** Topics of a new block (core/mqtt/publish.go, PublishBlock), whose bytes are the message. */
import { BLOCKS, TAGGED_DATA, TRANSACTIONS } from '../../mqtt/topics.ts';
import { toHex } from '../../stardust/encoding/bytes.ts';
import { decode } from '../../stardust/encoding/codec.ts';
import { block } from '../../stardust/wire/block.ts';
import type { TaggedData } from '../../stardust/wire/transaction.ts';
import { type Audience, tellAll } from './milestone-events.ts';

/** @param bytes of a block that was parsed before it was stored */
export async function tellBlock(bytes: Uint8Array, audience: Audience): Promise<void> {
  const { payload } = decode(block, bytes);
  const topics = [BLOCKS];
  if (payload?.type === 5) topics.push(...taggedTopics(BLOCKS, payload));
  if (payload?.type === 6) {
    topics.push(TRANSACTIONS);
    const { payload: inner } = payload.essence;
    if (inner !== undefined) topics.push(...taggedTopics(TRANSACTIONS, inner));
  }
  await tellAll(audience, topics, () => bytes);
}

function taggedTopics(carrier: string, { tag }: TaggedData): string[] {
  const topic = carrier + TAGGED_DATA;
  return tag.length === 0 ? [topic] : [topic, `${topic}/${toHex(tag)}`];
}
