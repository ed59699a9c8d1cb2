/**
 * Checks in the browser what a node says of a milestone's blocks: signatures, the bytes of each
 * block, their order, and both roots. A check that fails names the blocks where it fails, so that
 * the graph can show them.
 */

import { orderBlocks } from '../../scripts/verify/order-blocks.ts';
import { fromHex, Reader, Refusal, toHex } from '../../src/stardust/encoding/bytes.ts';
import { decode } from '../../src/stardust/encoding/codec.ts';
import { type MilestoneKeys, signatureFault } from '../../src/stardust/milestone-keys.ts';
import { merkleRoot } from '../../src/stardust/proof/merkle.ts';
import { parseBlock } from '../../src/stardust/wire/block.ts';
import { milestoneId } from '../../src/stardust/wire/ids.ts';
import { type Milestone, milestone } from '../../src/stardust/wire/milestone.ts';
import { verifySignature } from '../../src/verify-signature.ts';
import type { ExplainedBlock } from '../node/shapes.ts';

export interface Finding {
  /** `unknown`: nothing speaks for it and nothing against it. */
  state: 'right' | 'wrong' | 'unknown';
  /** A sentence. */
  text: string;
  /** IDs of the blocks where it is wrong, as far as that can be told. */
  blocks: readonly string[];
}

const right = (text: string): Finding => ({ state: 'right', text, blocks: [] });
const unknown = (text: string): Finding => ({ state: 'unknown', text, blocks: [] });
const wrong = (text: string, blocks: readonly string[] = []): Finding => ({
  state: 'wrong',
  text,
  blocks,
});

/** A block of the cone, after its bytes were hashed. */
export interface ConeBlock {
  /** Block IDs in hex; empty if the bytes do not parse. */
  parents: readonly string[];
  /** Why these bytes are not the block's; undefined if they are. */
  fault: string | undefined;
}

const CONCURRENT_REQUESTS = 6;

/**
 * Reads the bytes of each block, six at a time, and hashes them.
 *
 * @param onRead called after each block with how many were read
 */
export async function readCone(
  ids: readonly string[],
  readBytes: (blockId: string) => Promise<Uint8Array>,
  onRead: (count: number) => void,
): Promise<ReadonlyMap<string, ConeBlock>> {
  const cone = new Map<string, ConeBlock>();
  const left = ids.values();
  const work = async () => {
    for (const blockId of left) {
      cone.set(blockId, hashBlock(blockId, await readBytes(blockId)));
      onRead(cone.size);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, work));
  return cone;
}

function hashBlock(blockId: string, bytes: Uint8Array): ConeBlock {
  const result = parseBlock(bytes);
  if (!result.ok) return { parents: [], fault: `its bytes are no block: ${result.reason}` };
  const { id, block } = result.parsed;
  const fault = toHex(id) === blockId ? undefined : `its bytes are those of ${toHex(id)}`;
  return { parents: block.parents.map(toHex), fault };
}

/** What the page shows of a milestone. */
interface ShownMilestone {
  index: number;
  inclusionMerkleRoot: string;
  appliedMerkleRoot: string;
  parents: readonly string[];
}

/**
 * Whether the bytes of a milestone are signed by the network, and say what the page shows.
 *
 * @param network for people
 * @param keys undefined if the page does not know the network's keys
 */
export async function checkMilestone(
  shown: ShownMilestone,
  payload: Uint8Array,
  network: string,
  keys: MilestoneKeys | undefined,
): Promise<Finding> {
  let value: Milestone;
  try {
    value = decode(milestone, new Reader(payload));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return wrong(`The milestone does not parse: ${error.message}.`);
  }
  const isShown =
    value.index === shown.index &&
    toHex(value.inclusionMerkleRoot) === shown.inclusionMerkleRoot &&
    toHex(value.appliedMerkleRoot) === shown.appliedMerkleRoot &&
    value.parents.map(toHex).join() === shown.parents.join();
  if (!isShown) return wrong('The node shows another milestone than the one in its bytes.');
  const count = value.signatures.length;
  if (keys === undefined)
    return unknown(
      `It has ${count} signatures. This page does not know who signs for ${network}: Verify takes keys.`,
    );
  const fault = await signatureFault(value, milestoneId(value, payload), keys, verifySignature);
  return fault === undefined
    ? right(`${count} signatures are right, all by keys of ${network}.`)
    : wrong(`It is not signed by ${network}: ${fault}.`);
}

/** What the blocks are held against. */
export interface Claim {
  /** Parents of the milestone, in their order. */
  parents: readonly string[];
  inclusionMerkleRoot: string;
  appliedMerkleRoot: string;
  /** Whose roots these are: "signed" or "computed by the node". */
  whose: string;
}

export function checkBlocks(cone: ReadonlyMap<string, ConeBlock>): Finding {
  const faulty = Array.from(cone).filter(([, { fault }]) => fault !== undefined);
  const [first] = faulty;
  if (first === undefined) return right(`Each of ${cone.size} blocks has the hash that is its ID.`);
  return wrong(
    `Block ${first[0]}: ${first[1].fault}.`,
    faulty.map(([blockId]) => blockId),
  );
}

/** E.1: depth first from the parents, each block behind its own. */
export function checkOrder(
  ids: readonly string[],
  cone: ReadonlyMap<string, ConeBlock>,
  { parents }: Claim,
): Finding {
  if (Array.from(cone.values()).some(({ fault }) => fault !== undefined))
    return unknown('The order cannot be checked while a block is not the one that it should be.');
  const own = new Map(Array.from(cone, ([blockId, block]) => [blockId, block.parents]));
  const due = orderBlocks(parents, own);
  const place = ids.findIndex((blockId, i) => blockId !== due[i]);
  if (place < 0 && due.length === ids.length)
    return right('The walk from the parents meets them in this order.');
  const at = place < 0 ? ids.length : place;
  return wrong(
    `The order is wrong from place ${at} on: the walk from the parents meets ${due[at] ?? 'nothing'} there (E.1).`,
    [ids[at], due[at]].filter((id) => id !== undefined && cone.has(id)) as string[],
  );
}

export function checkInclusionRoot(
  ids: readonly string[],
  { inclusionMerkleRoot, whose }: Claim,
): Finding {
  const root = rootOf(ids);
  return root === inclusionMerkleRoot
    ? right(`Their IDs, in this order, hash to the inclusion root that was ${whose}.`)
    : wrong(`Their IDs hash to inclusion root ${root}, and ${inclusionMerkleRoot} was ${whose}.`);
}

/** Where the root is another one, it tries whether a single verdict explains that. */
export function checkAppliedRoot(
  blocks: readonly ExplainedBlock[],
  { appliedMerkleRoot, whose }: Claim,
): Finding {
  const applied = (changed?: ExplainedBlock) =>
    blocks
      .filter((each) => (each.ledgerInclusionState === 'included') !== (each === changed))
      .map(({ blockId }) => blockId);
  const ids = applied();
  const root = rootOf(ids);
  if (root === appliedMerkleRoot)
    return right(`The ${ids.length} applied ones hash to the applied root that was ${whose}.`);
  const transactions = blocks.filter(({ payload }) => payload === 'transaction');
  const liar = transactions
    .slice(0, MAX_TRIED)
    .find((each) => rootOf(applied(each)) === appliedMerkleRoot);
  const reason = `The applied ones hash to applied root ${root}, and ${appliedMerkleRoot} was ${whose}`;
  return liar === undefined
    ? wrong(`${reason}.`)
    : wrong(
        `${reason}. The verdict on block ${liar.whiteFlagIndex} is the wrong one: with the other, the roots agree.`,
        [liar.blockId],
      );
}

/** Each try hashes all applied transactions. */
const MAX_TRIED = 300;

function rootOf(ids: readonly string[]): string {
  return toHex(merkleRoot(ids.map(fromHex)));
}
