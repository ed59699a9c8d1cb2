/**
 * Judges blocks by their bytes: their IDs (B.1), what they carry, and the order in which a walk
 * from given parents meets them (E.1).
 */
import { toHex } from '../encoding/bytes.ts';
import { type ParsedBlock, parseBlock } from '../wire/block.ts';
import { orderBlocks } from './order-blocks.ts';
import { type Finding, type Proved, prove, provedValue, refute } from './proved.ts';

export type PayloadKind = 'none' | 'transaction' | 'milestone' | 'taggedData';

/** Facts in the bytes of a block. */
export interface BlockFacts {
  blockId: string;
  parents: readonly string[];
  payload: PayloadKind;
  /** ID of the transaction that it carries. */
  transactionId?: string;
  /** Index of the milestone that it carries, whoever signed that. */
  milestoneIndex?: number;
}

/** A block with all that its bytes say. */
export interface BlockContent extends BlockFacts {
  parsed: ParsedBlock;
}

/** Blocks by their IDs. */
export type BlockSet = ReadonlyMap<string, BlockFacts>;

/** Kinds of blocks by payload type (docs/protocol.md, A.1); 0 stands for none. */
export const PAYLOAD_KINDS: Readonly<Record<number, PayloadKind>> = {
  0: 'none',
  5: 'taggedData',
  6: 'transaction',
  7: 'milestone',
};

/** Whether these bytes are the block with this ID. */
export function proveBlockBytes(bytes: Uint8Array, blockId: string): Finding<BlockFacts> {
  return proveParsed(bytes, blockId, blockFactsOf);
}

/** Judges like {@link proveBlockBytes}, with the payload: for one block, as it keeps the bytes. */
export function proveBlockContent(bytes: Uint8Array, blockId: string): Finding<BlockContent> {
  return proveParsed(bytes, blockId, (parsed) => ({ ...blockFactsOf(parsed), parsed }));
}

function proveParsed<T extends BlockFacts>(
  bytes: Uint8Array,
  blockId: string,
  read: (parsed: ParsedBlock) => T,
): Finding<T> {
  const result = parseBlock(bytes);
  if (!result.ok) return refute(`block ${blockId} does not parse: ${result.reason}`, [blockId]);
  const facts = read(result.parsed);
  return facts.blockId === blockId
    ? prove(facts)
    : refute(`the bytes of block ${blockId} are those of ${facts.blockId}`, [blockId]);
}

function blockFactsOf({ id, block, transaction, milestone }: ParsedBlock): BlockFacts {
  return {
    blockId: toHex(id),
    parents: block.parents.map(toHex),
    payload: PAYLOAD_KINDS[block.payload?.type ?? 0]!,
    ...(transaction && { transactionId: toHex(transaction.id) }),
    ...(milestone && { milestoneIndex: milestone.value.index }),
  };
}

/** All of them, where each was proved; otherwise the first that was not. */
export function proveBlocks(found: Iterable<Finding<BlockFacts>>): Finding<BlockSet> {
  const blocks = new Map<string, BlockFacts>();
  const others: Exclude<Finding<BlockFacts>, { standing: 'proved' }>[] = [];
  for (const finding of found) {
    if (finding.standing === 'proved') {
      const facts = provedValue(finding.proof);
      blocks.set(facts.blockId, facts);
    } else others.push(finding);
  }
  const wrong = others.filter((each) => each.standing === 'refuted');
  const [first] = wrong;
  const ids = wrong.flatMap((each) => each.blocks);
  if (first !== undefined) return refute(first.reason, ids);
  return others[0] ?? prove(blocks);
}

/** Blocks in the order of a walk. */
export interface Walk {
  /** Where it begins: parents of a milestone or a proposal, in their order. */
  parents: readonly string[];
  blockIds: readonly string[];
}

/**
 * Judges whether the walk of E.1 from the parents, depth first, each block behind its own parents,
 * meets these blocks in this order. Blocks beyond them count as referenced before.
 */
export function proveWalk(
  parents: readonly string[],
  blocks: Proved<BlockSet>,
  blockIds: readonly string[],
): Finding<Walk> {
  const set = provedValue(blocks);
  const own = new Map(Array.from(set, ([blockId, block]) => [blockId, block.parents]));
  const due = orderBlocks(parents, own);
  const place = blockIds.findIndex((blockId, i) => blockId !== due[i]);
  if (place < 0 && due.length === blockIds.length) return prove({ parents, blockIds });
  const at = place < 0 ? blockIds.length : place;
  return refute(
    `the white-flag order is wrong from place ${at} on: the walk from the parents meets ${due[at] ?? 'nothing'} there (E.1)`,
    [blockIds[at], due[at]].filter((id) => id !== undefined && set.has(id)) as string[],
  );
}
