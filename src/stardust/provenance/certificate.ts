/**
 * Judges certificates of NFTs (docs/contract.md#certificate-of-an-nft): a transaction, which a
 * signed milestone applied, made a state of an NFT. A certificate never proves that nothing came
 * later; of two, the later one refutes the other ({@link laterState}).
 */
import { blake2b256 } from '../crypto/hash.ts';
import { fromBase64, toBase64 } from '../encoding/base64.ts';
import { concatBytes, equalBytes, fromHex, toHex } from '../encoding/bytes.ts';
import { array, asObject, integer, type JsonObject, text } from '../encoding/json-object.ts';
import { caughtRefusal, StardustError } from '../error.ts';
import { parseProof } from '../proof/proof.ts';
import { type ParsedBlock, parseBlock } from '../wire/block.ts';
import { decodeOutput, nftIdOf, outputId } from '../wire/ids.ts';
import { type NftOutput, type Output, OutputType } from '../wire/output.ts';
import type { Transaction } from '../wire/transaction.ts';
import { proveBlockBytes } from './blocks.ts';
import { provePath } from './inclusion.ts';
import {
  proveMilestone,
  readMilestoneFacts,
  type SignedMilestone,
  type Trust,
} from './milestone.ts';
import { type Finding, type Proved, prove, provedValue, refute } from './proved.ts';

/** Bytes of the largest certificate as JSON (ASCII): a block of 32 KB has 44,000 of them. */
export const MAX_CERTIFICATE_BYTES = 50 * 1024;

/** A state that an NFT came to. IDs are `0x…`. */
export interface NftState {
  nftId: string;
  /** Undefined where the NFT was burned. */
  held: { outputId: string; output: NftOutput } | undefined;
  /** Milestone in which it came to the state. Whether it still has it, nothing here says. */
  since: SignedMilestone;
  blockId: string;
  transactionId: string;
  /** Network of the transaction: the start of the hash of its name (C-13). */
  networkId: bigint;
  /**
   * Place among the transactions that the milestone applied: the way from the root, 0 for left and
   * 1 for right, so that texts compare as white-flag order does.
   */
  place: string;
  /** The node's ledger milestone. That the state was the newest then is its word. */
  head: SignedMilestone;
}

/**
 * Judges whether a certificate shows that this NFT came to a state.
 *
 * @param json answer of a node
 * @param nftId `0x…` in lower case
 *
 * @example
 * ```ts
 * import { provedValue, proveCertificate, type Trust } from '@stardust-edge/protocol/provenance';
 *
 * export async function holderSince(json: unknown, nftId: string, trust: Trust): Promise<string> {
 *   const finding = await proveCertificate(json, nftId, trust);
 *   if (finding.standing !== 'proved') throw new Error(finding.reason);
 *   const { held, since } = provedValue(finding.proof);
 *   return `in ${held?.outputId ?? 'no output'} since milestone ${since.index}, or moved later`;
 * }
 * ```
 */
export async function proveCertificate(
  json: unknown,
  nftId: string,
  trust: Trust,
): Promise<Finding<NftState>> {
  try {
    return await judge(asObject(json), nftId, trust);
  } catch (error) {
    return refute(`the certificate of NFT ${nftId}: ${caughtRefusal(error).reason}`);
  }
}

async function judge(json: JsonObject, nftId: string, trust: Trust): Promise<Finding<NftState>> {
  const signed = await proveSigned(base64(json, 'milestone'), trust);
  if (signed.standing !== 'proved') return signed;
  const newest = await proveSigned(base64(json, 'head'), trust);
  if (newest.standing !== 'proved') return newest;
  const [since, head] = [provedValue(signed.proof), provedValue(newest.proof)];
  const isAfter =
    head.index > since.index ||
    (head.index === since.index && head.milestoneId === since.milestoneId);
  if (!isAfter || integer(json, 'ledgerIndex') !== head.index)
    return refute(`the ledger's milestone ${head.index} is not that of the certificate`);

  const parsed = parseBlock(base64(json, 'block'));
  if (!parsed.ok) return refute(`the block does not parse: ${parsed.reason}`);
  const { id, bytes, transaction } = parsed.parsed;
  const block = proveBlockBytes(bytes, toHex(id));
  if (block.standing !== 'proved') return block;
  const path = provePath(signed.proof, block.proof, json.appliedProof, 'appliedMerkleRoot');
  if (path.standing !== 'proved') return path;
  const claim = transaction && readClaim(json, nftId, transaction);
  if (claim === undefined)
    return refute(`the transaction neither creates nor consumes NFT ${nftId}`);
  if (json.nftId !== nftId || json.outputId !== (claim.held?.outputId ?? null))
    return refute('the certificate names another NFT or output than its block has');
  const { siblings } = parseProof(json.appliedProof);
  const sides = siblings.map(({ side }) => (side === 'left' ? '1' : '0'));
  return prove({
    nftId,
    held: claim.held,
    since,
    blockId: toHex(id),
    transactionId: toHex(transaction!.id),
    networkId: transaction!.value.essence.networkId,
    place: sides.reverse().join(''),
    head,
  });
}

async function proveSigned(payload: Uint8Array, trust: Trust): Promise<Finding<SignedMilestone>> {
  const facts = readMilestoneFacts(payload);
  if (facts === undefined) return refute('a milestone of the certificate does not parse');
  return proveMilestone(payload, { index: facts.index }, trust);
}

/** Returns what the transaction made of the NFT; undefined if that is nothing. */
function readClaim(
  json: JsonObject,
  nftId: string,
  { id, value }: NonNullable<ParsedBlock['transaction']>,
): Pick<NftState, 'held'> | undefined {
  // one at most (C-25)
  const own = value.essence.outputs
    .map((output, i) => ({ output, id: outputId(id, i) }))
    .find((each) => isOfNft(each.output, each.id, nftId));
  if (own !== undefined)
    return { held: { outputId: toHex(own.id), output: own.output as NftOutput } };
  return consumesNft(json, nftId, value) ? { held: undefined } : undefined;
}

export function isOfNft(output: Output, id: Uint8Array, nftId: string): output is NftOutput {
  return output.type === OutputType.Nft && toHex(nftIdOf(output, id)) === nftId;
}

/**
 * Returns whether an output that the transaction consumes held the NFT. The transaction commits to
 * their contents (B.5), and would not have been applied otherwise.
 */
function consumesNft(json: JsonObject, nftId: string, { essence }: Transaction): boolean {
  const consumed = array(json, 'consumed').map(consumedFromJson);
  if (consumed.length !== essence.inputs.length) return false;
  const commitment = blake2b256(concatBytes(...consumed.map(({ hash }) => hash)));
  if (!equalBytes(commitment, essence.inputsCommitment)) return false;
  return consumed.some(({ output }, i) => {
    const input = essence.inputs[i]!;
    const id = outputId(input.transactionId, input.outputIndex);
    return output !== undefined && isOfNft(output, id, nftId);
  });
}

function consumedFromJson(json: unknown): { hash: Uint8Array; output?: Output } {
  const object = asObject(json);
  if (Object.hasOwn(object, 'output')) {
    const bytes = base64(object, 'output');
    return { hash: blake2b256(bytes), output: decodeOutput(bytes) };
  }
  const hash = text(object, 'hash');
  if (!/^0x[0-9a-f]{64}$/.test(hash))
    throw new StardustError('TIP-25', '"hash" is not 32 bytes of hex');
  return { hash: fromHex(hash) };
}

function base64(object: JsonObject, field: string): Uint8Array {
  const digits = text(object, field);
  try {
    const bytes = fromBase64(digits);
    // bytes have one spelling
    if (toBase64(bytes) === digits) return bytes;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new StardustError('TIP-25', `"${field}" is not base64`);
}

/**
 * Returns the later of two states of one NFT, by milestone, and within one by white-flag order: it
 * refutes whoever says that the NFT still has the other. Refuted if both cannot be: then the keys
 * signed two milestones with one index. Throws a TypeError for states of two NFTs.
 */
export function laterState(one: Proved<NftState>, other: Proved<NftState>): Finding<NftState> {
  const [a, b] = [provedValue(one), provedValue(other)];
  if (a.nftId !== b.nftId) throw new TypeError('states of two NFTs');
  if (a.since.index !== b.since.index) return prove(a.since.index > b.since.index ? a : b);
  if (a.since.milestoneId !== b.since.milestoneId)
    return refute(`two milestones ${a.since.index} are signed by ${a.since.whose}`);
  if (a.place === b.place && a.blockId !== b.blockId)
    return refute(`two blocks have one place in milestone ${a.since.index}`);
  return prove(a.place >= b.place ? a : b);
}
