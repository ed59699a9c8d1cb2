/**
 * Asks nodes about an NFT, and believes none of them. The subpath `/verifier` of the package
 * (README.md). Why it may be believed: docs/contract.md#what-several-certificates-prove.
 */
import { verifyEd25519 } from './crypto/ed25519.ts';
import { equalBytes } from './encoding/bytes.ts';
import type { MilestoneKey, VerifySignature } from './milestone-keys.ts';
import { encodeOutput } from './output.ts';
import {
  askAboutNft,
  askFinal,
  type FinalHolding,
  type NftHolder,
  type NodeAnswer,
} from './verifier/ask-about-nft.ts';
import type { Asked, Platform } from './verifier/read-node-json.ts';
import { type AskedNode, type Weighed, weighAnswers } from './verifier/weigh-answers.ts';
import type { NftOutput } from './wire/output.ts';

/**
 * How well an answer is founded, the best first.
 *
 * - `final`: the final root commits to it. The network has ended, and nothing can come later.
 * - `unrefuted`: at least two nodes, and as many as the caller demanded, each gave a certificate of
 *   this state beside a signed milestone that is no older than `maxAgeSeconds`; and no node that was
 *   asked gave one of a later state, or disputes it without a certificate. It is the NFT's state at
 *   `asOf` if one of the nodes that agree is honest. A node whose newest milestone is older does not
 *   count, whatever it says.
 * - `created`: a certificate shows that the NFT came to this state at `since`. Whether it still has
 *   it is not shown: too few nodes agree, or they are not current, or one disputes it.
 * - `claimed`: no node has a certificate, as none has the block any more, and all that answered say
 *   the same. Nothing is shown.
 */
export type Guarantee = 'final' | 'unrefuted' | 'created' | 'claimed';

const GUARANTEES: readonly Guarantee[] = ['final', 'unrefuted', 'created', 'claimed'];

/** `unrefuted` needs somebody who could have refuted it. */
const LEAST_NODES = 2;

export interface VerifierOptions {
  /**
   * URLs of edge nodes, in the order in which they are asked. None is trusted, but they should be
   * of different operators: nodes of one operator that lie agree with each other.
   */
  nodes: readonly string[];
  /** Who may sign milestones. From a source that you trust, never from a node. */
  keys: readonly MilestoneKey[];
  /** How many of the keys must have signed: 1 or more. */
  threshold: number;
  /** Of the network, such as `shimmer`: certificates of other networks are refused. */
  networkName: string;
  /** The final root, 32 bytes (docs/final-ledger.md), from a source that you trust. */
  finalRoot?: Uint8Array;
  /** For each answer of a node. Default: 10. */
  timeoutSeconds?: number;
  /** Decides about signatures by ZIP-215; by default in JavaScript. */
  verify?: VerifySignature;
  /** The clock: Unix seconds. */
  now?(): number;
  /** By default that of the platform. */
  fetch?: Platform['fetch'];
}

export interface NftQuery {
  /** How many current nodes must agree for `unrefuted`. Default: 2. */
  nodes?: number;
  /** How old the newest milestone of a node may be. Default: 30. */
  maxAgeSeconds?: number;
  /** The least guarantee that is accepted. Default: `unrefuted`. */
  atLeast?: Guarantee;
}

export interface MilestoneTime {
  milestoneIndex: number;
  /** Unix seconds; undefined where only the index is proven. */
  timestamp: number | undefined;
}

interface Answered {
  guarantee: Guarantee;
  nftId: string;
  /** When it came to this state; undefined where that is not shown. */
  since: MilestoneTime | undefined;
  /**
   * Up to when it had this state as far as the guarantee goes: `final`, the last milestone;
   * `unrefuted`, the oldest of the newest milestones of the nodes that agree; `created`, `since`;
   * `claimed`, undefined.
   */
  asOf: MilestoneTime | undefined;
  asked: readonly AskedNode[];
}

export interface HeldNft extends Answered {
  standing: 'held';
  /** `0x` and 68 hex digits. */
  outputId: string;
  output: NftOutput;
}

/** `burned`: shown by a certificate. `absent`: there is no such NFT, it was burned or never minted. */
export interface GoneNft extends Answered {
  standing: 'burned' | 'absent';
  outputId: undefined;
  output: undefined;
}

export type VerifiedNft = HeldNft | GoneNft;

/** Less is shown than was demanded, and no node is caught lying. `asked` says why. */
export class Unproven extends Error {
  override readonly name = 'Unproven';
  readonly asked: readonly AskedNode[];
  /** What is shown; undefined where that is nothing. */
  readonly shown: VerifiedNft | undefined;

  constructor(reason: string, asked: readonly AskedNode[], shown: VerifiedNft | undefined) {
    super(reason);
    this.asked = asked;
    this.shown = shown;
  }
}

export interface Verifier {
  /**
   * Who or what holds an NFT. Resolves to an answer of the guarantee that was demanded, or a better
   * one. Otherwise it throws: a {@link Refuted} with two certificates if a node is caught lying, an
   * {@link Unproven} if not.
   *
   * Nodes are asked in their order, at first as many as must agree, then one for each that does not.
   *
   * @param nftId `0x` and 64 hex digits
   */
  nft(nftId: string, query?: NftQuery): Promise<VerifiedNft>;
}

/**
 * A verifier of what nodes say. Throws a RangeError if an option makes no sense.
 *
 * @example
 * ```ts
 * import { createVerifier, type VerifierOptions } from '@stardust-edge/protocol/verifier';
 * import { ownerAt } from '@stardust-edge/protocol/output';
 * import { toBech32 } from '@stardust-edge/protocol/bech32';
 *
 * export async function ownerOf(nftId: string, options: VerifierOptions): Promise<string> {
 *   const found = await createVerifier(options).nft(nftId, { nodes: 2, maxAgeSeconds: 30 });
 *   if (found.standing !== 'held') return `nobody: ${found.standing}`;
 *   return toBech32('smr', ownerAt(found.output, Date.now() / 1000).address);
 * }
 * ```
 */
export function createVerifier(options: VerifierOptions): Verifier {
  const nodes = options.nodes.map(readUrl);
  const { keys, threshold, networkName, finalRoot, timeoutSeconds = 10 } = options;
  const { verify = verifyEd25519, now = () => Date.now() / 1000 } = options;
  const platform: Platform = { fetch: options.fetch ?? fetch };
  requireOption(nodes.length > 0, 'nodes are missing');
  requireOption(new Set(nodes).size === nodes.length, 'a node is named twice');
  requireOption(isPositive(timeoutSeconds), 'timeoutSeconds must be positive');
  requireOption(
    Number.isSafeInteger(threshold) && threshold >= 1,
    'the threshold must be 1 or more',
  );
  requireOption(
    keys.length >= threshold,
    `${keys.length} keys cannot reach the threshold ${threshold}`,
  );
  requireOption(
    keys.every((each) => each.publicKey.length === 32),
    'a public key has 32 bytes',
  );
  requireOption(finalRoot === undefined || finalRoot.length === 32, 'a final root has 32 bytes');
  const trust = { whose: 'the keys that you gave', keys: { keys, threshold }, verify };
  const askedOf = (url: string): Asked => ({ url, platform, timeoutSeconds });

  async function nft(nftId: string, query: NftQuery = {}): Promise<VerifiedNft> {
    const { nodes: required = LEAST_NODES, maxAgeSeconds = 30, atLeast = 'unrefuted' } = query;
    requireOption(/^0x[0-9a-fA-F]{64}$/.test(nftId), 'an NFT ID is 0x and 64 hex digits');
    requireOption(Number.isSafeInteger(required) && required >= 1, 'nodes must be 1 or more');
    requireOption(isPositive(maxAgeSeconds), 'maxAgeSeconds must be positive');
    requireOption(GUARANTEES.includes(atLeast), `there is no guarantee ${atLeast}`);
    const id = nftId.toLowerCase();
    const failed: AskedNode[] = [];
    if (finalRoot !== undefined)
      for (const node of nodes) {
        const found = await askFinal(askedOf(node), id, finalRoot, networkName);
        if (!('failure' in found)) return concludeFinal(id, found, [...failed, agreed(node)]);
        failed.push({ node, standing: 'failed', reason: found.failure });
      }
    const answers: NodeAnswer[] = [];
    let weighed = weighAnswers(answers, maxAgeSeconds, now());
    for (let missing = required; missing > 0; missing = required - weighed.heads.length) {
      const next = nodes.slice(answers.length, answers.length + missing);
      if (next.length === 0 || atLeast === 'final') break;
      const ask = (node: string) => askAboutNft(askedOf(node), id, trust, networkName);
      answers.push(...(await Promise.all(next.map(ask))));
      weighed = weighAnswers(answers, maxAgeSeconds, now());
    }
    const asked = [...failed, ...weighed.asked];
    const shown = conclude(id, weighed, answers, required, asked);
    if (shown && GUARANTEES.indexOf(shown.guarantee) <= GUARANTEES.indexOf(atLeast)) return shown;
    if (weighed.refuted !== undefined) throw weighed.refuted;
    const most = shown === undefined ? 'nothing is shown' : `only "${shown.guarantee}" is shown`;
    const reasons = asked.map(({ node, reason }) => `${node}: ${reason}`).join('; ');
    throw new Unproven(`NFT ${id}: ${most}, not "${atLeast}" (${reasons})`, asked, shown);
  }
  return { nft };
}

function requireOption(isSo: boolean, sentence: string): void {
  if (!isSo) throw new RangeError(sentence);
}

function isPositive(value: number): boolean {
  return Number.isFinite(value) && value > 0;
}

/** One spelling of each, without a slash at the end. */
function readUrl(text: string): string {
  const { origin, pathname, protocol, username } = new URL(text);
  requireOption(/^https?:$/.test(protocol) && username === '', `${text} is no URL of a node`);
  return origin + pathname.replace(/\/+$/, '');
}

const agreed = (node: string): AskedNode => ({
  node,
  standing: 'agrees',
  reason: 'the final root commits to it',
});

/** What the guarantee is; undefined where nothing is shown, or words differ. */
function conclude(
  nftId: string,
  { latest, heads, asked: weighed }: Weighed,
  answers: readonly NodeAnswer[],
  required: number,
  asked: readonly AskedNode[],
): VerifiedNft | undefined {
  if (latest === undefined) return concludeFromWords(nftId, answers, asked);
  const { held, since: created } = latest.state;
  const isUnrefuted =
    heads.length >= Math.max(required, LEAST_NODES) &&
    weighed.every(({ standing }) => standing !== 'disputes');
  const since = momentOf(created);
  const oldest = heads.reduce((one, other) => (other.index < one.index ? other : one), heads[0]!);
  const facts = { nftId, since, asked };
  const founded = isUnrefuted
    ? { ...facts, guarantee: 'unrefuted' as const, asOf: momentOf(oldest) }
    : { ...facts, guarantee: 'created' as const, asOf: since };
  return { ...founded, ...stateOf(held, 'burned') };
}

function concludeFromWords(
  nftId: string,
  answers: readonly NodeAnswer[],
  asked: readonly AskedNode[],
): VerifiedNft | undefined {
  const words = answers.flatMap((each) => (each.kind === 'word' ? [each.held] : []));
  const [held] = words;
  if (words.length === 0 || words.some((each) => !isSameHolder(each, held))) return undefined;
  const facts = { nftId, since: undefined, asOf: undefined, asked };
  return { ...facts, guarantee: 'claimed', ...stateOf(held, 'absent') };
}

function isSameHolder(one: NftHolder | undefined, other: NftHolder | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return (
    one.outputId === other.outputId &&
    equalBytes(encodeOutput(one.output), encodeOutput(other.output))
  );
}

function concludeFinal(
  nftId: string,
  { milestoneIndex, held }: FinalHolding,
  asked: readonly AskedNode[],
): VerifiedNft {
  const since = held && { milestoneIndex: held.bookedIndex, timestamp: held.bookedTimestamp };
  const asOf = { milestoneIndex, timestamp: undefined };
  return { nftId, guarantee: 'final', since, asOf, asked, ...stateOf(held, 'absent') };
}

function stateOf(held: NftHolder | undefined, otherwise: GoneNft['standing']) {
  return held === undefined
    ? { standing: otherwise, outputId: undefined, output: undefined }
    : { standing: 'held' as const, outputId: held.outputId, output: held.output };
}

function momentOf({ index, timestamp }: { index: number; timestamp: number }): MilestoneTime {
  return { milestoneIndex: index, timestamp };
}

export type { MilestoneKey, VerifySignature } from './milestone-keys.ts';
export type { NftState, SignedMilestone } from './provenance/provenance.ts';
export type { FetchedAnswer, FetchInit } from './verifier/read-node-json.ts';
export { type AskedNode, Refuted, type Witness } from './verifier/weigh-answers.ts';
