/**
 * Messages about one applied milestone, from D1, for the topics that somebody listens to
 * (docs/contract.md#events): outputs spent, outputs created, ends of chains, metadata of blocks,
 * the milestone. So everything of a milestone is told before the milestone. The reference promises
 * no order (core/mqtt/server.go runs a goroutine for each stream).
 */
import { LedgerDamaged } from '../../ledger/core/checksum.ts';
import type { Database } from '../../ledger/core/database.ts';
import {
  type BlockPieces,
  type BlockWithBytes,
  type MilestoneContents,
  readBlocksWithBytes,
  readSpentOutputs,
} from '../../ledger/read/milestone-contents.ts';
import { milestoneIndexOf } from '../../ledger/read/milestone-index.ts';
import type { OutputStatus } from '../../ledger/read/output-status.ts';
import { requireBlockId } from '../../ledger/read/stored-block.ts';
import {
  ANY_CONDITION,
  blockMetadataTopic,
  CONFIRMED_MILESTONE,
  chainTopic,
  includedBlockTopic,
  LATEST_MILESTONE,
  MILESTONES,
  outputTopic,
  REFERENCED,
  UNLOCK_NAMES,
  UNLOCKS,
  unlockTopic,
} from '../../mqtt/topics.ts';
import { takeTurns } from '../../platform/clock.ts';
import { toBech32 } from '../../stardust/bech32.ts';
import { fromHex, toHex, toHexDigits } from '../../stardust/encoding/bytes.ts';
import type { RestObject } from '../../stardust/json/rest-json.ts';
import type { MilestoneKeys } from '../../stardust/milestone-keys.ts';
import type { Address } from '../../stardust/wire/address.ts';
import { type ParsedBlock, parseBlock } from '../../stardust/wire/block.ts';
import { chainIdOf, decodeOutput, outputBytes, outputId } from '../../stardust/wire/ids.ts';
import { receiptOf } from '../../stardust/wire/milestone.ts';
import { type Output, OutputType } from '../../stardust/wire/output.ts';
import { migratedOutputs } from '../../stardust/wire/receipt.ts';
import { blockEventToJson, milestoneInfoToJson, outputEventToJson } from './event-json.ts';

export interface Audience {
  /** Whether somebody listens to a topic that begins like this. */
  hasAny(beginning: string): boolean;
  has(topic: string): boolean;
  tell(topic: string, payload: Uint8Array): Promise<void>;
  readonly prefix: string;
}

export const jsonBytes = (value: RestObject): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(value));

/** Tells one payload to those of these topics that somebody listens to; it is made once. */
export async function tellAll(
  audience: Audience,
  topics: readonly string[],
  make: () => Uint8Array,
): Promise<void> {
  const wanted = topics.filter((topic) => audience.has(topic));
  if (wanted.length === 0) return;
  const payload = make();
  for (const topic of wanted) await audience.tell(topic, payload);
}

/** Whether messages about the blocks of a milestone, or of what they create, are wanted. */
export const wantsBlocks = (audience: Audience): boolean =>
  ['outputs/', 'transactions/', 'block-metadata/'].some(audience.hasAny);

/**
 * Tells everything of a milestone. Throws a LedgerMoved if the milestone is pruned meanwhile, and
 * what the database throws: then the last message, that of the milestone, is not sent.
 *
 * @param contents with its blocks, where {@link wantsBlocks}
 * @param keys which sign milestones, where they are known
 */
export async function tellMilestone(
  db: Database,
  contents: MilestoneContents,
  audience: Audience,
  keys: MilestoneKeys | undefined,
): Promise<void> {
  const pieces: BlockPieces = new Map();
  if (['outputs/', 'transactions/'].some(audience.hasAny))
    await tellOutputs(db, contents, audience, pieces);
  if (audience.hasAny('block-metadata/')) await tellMetadata(db, contents, audience, pieces, keys);
  await audience.tell(MILESTONES, contents.payload.bytes);
  const info = jsonBytes(milestoneInfoToJson(contents));
  await audience.tell(LATEST_MILESTONE, info);
  await audience.tell(CONFIRMED_MILESTONE, info);
}

const CHAINS = {
  [OutputType.Alias]: 'alias',
  [OutputType.Foundry]: 'foundry',
  [OutputType.Nft]: 'nft',
} as const;

/** Returns the topic of the output's chain, whose ID is `chain`, in hex. */
function chainTopicOf({ type }: Output, chain: string): string | undefined {
  return type === OutputType.Basic ? undefined : chainTopic(CHAINS[type], `0x${chain}`);
}

async function tellOutputs(
  db: Database,
  contents: MilestoneContents,
  audience: Audience,
  pieces: BlockPieces,
): Promise<void> {
  const { index, timestamp, payload } = contents;
  const turn = takeTurns();
  const unlockTopics = createUnlockTopics(audience);
  const gone = new Set<string>();
  /** The last output of a chain that has no other, by topic: the chain has ended. */
  const ends = new Map<string, string>();

  await visitSpent(db, contents, async (spent) => {
    const { outputId: id } = spent;
    const output = decodeOutput(spent.bytes);
    const make = () => jsonBytes(outputEventToJson(spent, output));
    gone.add(id);
    await tellAll(audience, [outputTopic(`0x${id}`), ...unlockTopics(output, true)], make);
    const chain = chainIdOf(output, fromHex(`0x${id}`));
    const topic = chain && chainTopicOf(output, toHexDigits(chain));
    if (topic !== undefined && audience.has(topic)) ends.set(topic, id);
  });

  async function tellCreated(id: Uint8Array, blockId: string, output: Output): Promise<void> {
    const event: OutputStatus = {
      outputId: toHexDigits(id),
      bytes: outputBytes(output),
      blockId,
      bookedIndex: index,
      bookedTimestamp: timestamp,
      spent: undefined,
      ledgerIndex: index,
    };
    const chain = chainIdOf(output, id);
    const topic = chain && chainTopicOf(output, toHexDigits(chain));
    const isGone = gone.has(event.outputId);
    // its end is crossed out once the chain's unspent output is told, which is to be the last word
    const isOutdated = isGone && topic !== undefined && !ends.has(topic);
    const topics = [
      outputTopic(toHex(id)),
      ...(topic === undefined || isOutdated ? [] : [topic]),
      ...unlockTopics(output, false),
    ];
    await tellAll(audience, topics, () => jsonBytes(outputEventToJson(event, output)));
    if (topic !== undefined && !isGone) ends.delete(topic);
  }

  const migrated = migratedOutputs(receiptOf(payload.value), fromHex(`0x${contents.id}`));
  // no block carries these: the reference names the zero ID
  for (const { id, output } of migrated) await tellCreated(id, '0'.repeat(64), output);
  let inputs = 0;
  for await (const block of readBlocksWithBytes(db, contents, pieces)) {
    await turn();
    if (block.reason !== 0) continue;
    const { transaction, bytes } = parse(block);
    inputs += transaction!.value.essence.inputs.length;
    await tellAll(audience, [includedBlockTopic(toHex(transaction!.id))], () => bytes);
    for (const [i, output] of transaction!.value.essence.outputs.entries())
      await tellCreated(outputId(transaction!.id, i), block.id, output);
  }
  // a part of the milestone without blocks may be missing
  if (inputs !== gone.size) throw new LedgerDamaged('outputs that were spent');
  // an addition of this node: the reference says nothing when a chain ends
  const ended = new Map(Array.from(ends, ([topic, id]) => [id, topic]));
  if (ended.size === 0) return;
  // read again: they may be too many to be held
  await visitSpent(db, contents, async (spent) => {
    const topic = ended.get(spent.outputId);
    if (topic === undefined) return;
    await audience.tell(topic, jsonBytes(outputEventToJson(spent, decodeOutput(spent.bytes))));
  });
}

/** Visits the outputs in the order in which they were spent, with turns of others between. */
async function visitSpent(
  db: Database,
  contents: MilestoneContents,
  visit: (spent: OutputStatus) => Promise<void>,
): Promise<void> {
  const turn = takeTurns();
  for await (const outputs of readSpentOutputs(db, contents)) {
    await turn();
    for (const spent of outputs) await visit(spent);
  }
}

/** Throws a LedgerDamaged where the bytes are not those of the block. */
function parse({ id, bytes }: BlockWithBytes): ParsedBlock {
  const result = parseBlock(bytes);
  if (!result.ok || toHexDigits(result.parsed.id) !== id)
    throw new LedgerDamaged(`bytes of block 0x${id}`);
  return result.parsed;
}

/**
 * Tells the topics of an output's unlock conditions (core/mqtt/publish.go,
 * PublishOnUnlockConditionTopics), and once for each address that of any condition.
 */
function createUnlockTopics(audience: Audience): (output: Output, isSpent: boolean) => string[] {
  if (!audience.hasAny(UNLOCKS)) return () => [];
  return ({ unlockConditions }, isSpent) => {
    const addresses = new Set<string>();
    const topics = unlockConditions.flatMap((condition) => {
      if (!(condition.type in UNLOCK_NAMES)) return [];
      const name = UNLOCK_NAMES[condition.type as keyof typeof UNLOCK_NAMES];
      const owner = 'returnAddress' in condition ? condition.returnAddress : undefined;
      const { address: own } = condition as { address: Address };
      const address = toBech32(audience.prefix, owner ?? own);
      addresses.add(address);
      return [unlockTopic(name, address, isSpent)];
    });
    for (const address of addresses) topics.push(unlockTopic(ANY_CONDITION, address, isSpent));
    return topics;
  };
}

/** Blocks that wait for one before them: some 7 MB. */
const MAX_HELD = 10_000;

async function tellMetadata(
  db: Database,
  contents: MilestoneContents,
  audience: Audience,
  pieces: BlockPieces,
  keys: MilestoneKeys | undefined,
): Promise<void> {
  const { index } = contents;
  const turn = takeTurns();
  const wanted = (id: string) => audience.has(REFERENCED) || audience.has(blockMetadataTopic(id));
  /** Functions that tell of blocks, by the place in the white-flag order, until it is their turn. */
  const held = new Map<number, () => Promise<void>>();
  let next = 0;
  for await (const block of readBlocksWithBytes(db, contents, pieces)) {
    await turn();
    const { id, bytes, reason, whiteFlagIndex } = block;
    const isWanted = wanted(`0x${id}`);
    if (isWanted) requireBlockId(bytes, id);
    const isClaimed = block.payload === MILESTONE_PAYLOAD && isWanted;
    const milestoneIndex = isClaimed ? await milestoneIndexOf(parse(block), keys) : undefined;
    // not the whole block: many may be held
    const head = isWanted && bytes.slice(0, 2 + 32 * bytes[1]!);
    const tellOne = async (): Promise<void> => {
      if (!head) return;
      const referenced = { index, whiteFlagIndex, reason };
      const event = { id, parents: parentsOf(head), referenced, milestoneIndex };
      const topics = [blockMetadataTopic(`0x${id}`), REFERENCED];
      await tellAll(audience, topics, () => jsonBytes(blockEventToJson(event)));
    };
    held.set(whiteFlagIndex, tellOne);
    for (let tell = held.get(next); tell !== undefined; tell = held.get(next)) {
      held.delete(next++);
      await tell();
    }
    // where so many wait for one before them, the order is given up
    if (held.size > MAX_HELD) {
      for (const tell of held.values()) await tell();
      held.clear();
    }
  }
  for (const tell of held.values()) await tell();
}

/** Payload type (docs/protocol.md, A.1). */
const MILESTONE_PAYLOAD = 7;

/** Returns the parents as 0x and hex digits: they follow the version and their number (A.1). */
export function parentsOf(block: Uint8Array): string[] {
  return Array.from({ length: block[1]! }, (_, i) =>
    toHex(block.subarray(2 + 32 * i, 34 + 32 * i)),
  );
}
