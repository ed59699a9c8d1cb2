/**
 * Asks nodes about an NFT, and believes none of them. The subpath `/verifier` of the package
 * (README.md). Why it may be believed: docs/contract.md#what-several-certificates-prove.
 */
import { verifyEd25519 } from './crypto/ed25519.ts';
import type { MilestoneKey, VerifySignature } from './milestone-keys.ts';
import {
  askAboutNft,
  askFinal,
  type FinalHolding,
  type NodeAnswer,
} from './verifier/ask-about-nft.ts';
import { type Platform, withinTime } from './verifier/read-node-json.ts';
import {
  conclude,
  concludeFinal,
  type Guarantee,
  Unproven,
  type VerifiedNft,
} from './verifier/verified-nft.ts';
import { weighAnswers } from './verifier/weigh-answers.ts';

const GUARANTEES: readonly Guarantee[] = ['final', 'unrefuted', 'created', 'claimed'];

/** `unrefuted` needs somebody who could have refuted it. */
const LEAST_NODES = 2;

/** Timers of platforms count milliseconds with 31 bits. */
const MAX_TIMEOUT_SECONDS = 2_147_483;

export interface VerifierOptions {
  /**
   * URLs of edge nodes, each of which is asked. None is trusted, but they should be of different
   * operators: nodes of one operator that lie agree with each other. One node under two names counts
   * as two, which only its host's loopback names are known not to be.
   */
  nodes: readonly string[];
  /** Keys that may sign milestones, from a source that you trust, never a node (`/networks`). */
  keys: readonly MilestoneKey[];
  /** How many of the keys must have signed: 1 or more. */
  threshold: number;
  /** Name of the network, such as `shimmer`: certificates of other networks are refused. */
  networkName: string;
  /** The final root, 32 bytes (docs/final-ledger.md), from a source that you trust. */
  finalRoot?: Uint8Array;
  /** Owner of the keys, in sentences. Default: `the keys that you gave`. */
  whose?: string;
  /** Time for all answers of one node. Default: 10, at most 2,147,483. */
  timeoutSeconds?: number;
  /** Decides about signatures by ZIP-215; by default in JavaScript. */
  verify?: VerifySignature;
  /** The clock: Unix seconds. */
  now?(): number;
  /** Default: that of the platform. */
  fetch?: Platform['fetch'];
}

export interface NftQuery<Least extends Guarantee = Guarantee> {
  /** How many current nodes must agree for `unrefuted`: 2 or more. Default: 2. */
  nodes?: number;
  /** How old the newest milestone of a node may be. Default: 30. */
  maxAgeSeconds?: number;
  /** The least guarantee that is accepted. Default: `unrefuted`. */
  atLeast?: Least;
}

export interface Verifier {
  /**
   * Finds out who or what holds an NFT. Resolves to an answer of the guarantee that was demanded,
   * or a better one. Otherwise it throws: a {@link Refuted} with two certificates if a node is
   * caught lying, an {@link Unproven} if not.
   *
   * All nodes are asked at the same time, and what they answer is judged when all have answered, or
   * had their time: so a single one that is honest and current refutes all others.
   *
   * @param nftId `0x` and 64 hex digits
   */
  nft<Least extends Guarantee = 'unrefuted'>(
    nftId: string,
    query?: NftQuery<Least>,
  ): Promise<VerifiedNft<Least>>;
}

/**
 * A verifier of what nodes say. Throws a RangeError if an option makes no sense.
 *
 * @example
 * ```ts
 * import { toBech32 } from '@stardust-edge/protocol/bech32';
 * import { ownerAt } from '@stardust-edge/protocol/output';
 * import { createVerifier, type VerifierOptions } from '@stardust-edge/protocol/verifier';
 *
 * export async function ownerOf(nftId: string, options: VerifierOptions): Promise<string> {
 *   const found = await createVerifier(options).nft(nftId, { nodes: 2, maxAgeSeconds: 30 });
 *   if (found.standing !== 'held') return `nobody: ${found.standing}`;
 *   return toBech32('smr', ownerAt(found.output, Math.floor(Date.now() / 1000)).address);
 * }
 * ```
 */
export function createVerifier(options: VerifierOptions): Verifier {
  const nodes = options.nodes.map(readUrl);
  const { keys, threshold, networkName, finalRoot, timeoutSeconds = 10 } = options;
  const { verify = verifyEd25519, now = () => Date.now() / 1000 } = options;
  const { whose = 'the keys that you gave' } = options;
  const platform: Platform = { fetch: options.fetch ?? fetch };
  requireOption(nodes.length > 0, 'nodes are missing');
  requireOption(new Set(nodes.map(machineOf)).size === nodes.length, 'a node is named twice');
  requireOption(
    isPositive(timeoutSeconds) && timeoutSeconds <= MAX_TIMEOUT_SECONDS,
    `timeoutSeconds must be positive, and at most ${MAX_TIMEOUT_SECONDS}`,
  );
  requireOption(isCount(threshold) && threshold >= 1, 'the threshold must be 1 or more');
  requireOption(
    keys.length >= threshold,
    `${keys.length} keys cannot reach the threshold ${threshold}`,
  );
  const isKey = ({ publicKey, first, last }: MilestoneKey) =>
    publicKey instanceof Uint8Array && publicKey.length === 32 && [first, last].every(isCount);
  requireOption(keys.every(isKey), 'a key has a publicKey of 32 bytes, and indexes first and last');
  requireOption(finalRoot === undefined || finalRoot.length === 32, 'a final root has 32 bytes');
  const trust = { whose, keys: { keys, threshold }, verify };

  async function nft(nftId: string, query: NftQuery = {}): Promise<VerifiedNft> {
    const { nodes: required = LEAST_NODES, maxAgeSeconds = 30, atLeast = 'unrefuted' } = query;
    requireOption(/^0x[0-9a-fA-F]{64}$/.test(nftId), 'an NFT ID is 0x and 64 hex digits');
    requireOption(
      isCount(required) && required >= LEAST_NODES,
      'nodes must be 2 or more: one that agrees with itself shows nothing',
    );
    requireOption(isPositive(maxAgeSeconds), 'maxAgeSeconds must be positive');
    requireOption(GUARANTEES.includes(atLeast), `there is no guarantee ${atLeast}`);
    requireOption(finalRoot !== undefined || atLeast !== 'final', '"final" needs a finalRoot');
    const id = nftId.toLowerCase();
    const replies = await Promise.all(
      nodes.map((url) =>
        withinTime(timeoutSeconds, (signal) => {
          const asked = { url, platform, signal };
          return Promise.all([
            finalRoot && askFinal(asked, id, finalRoot, networkName),
            atLeast === 'final' ? undefined : askAboutNft(asked, id),
          ]);
        }),
      ),
    );
    const finals = replies.map(([final]) => final);
    const found = finals.find((each) => each !== undefined && !('failure' in each));
    if (found !== undefined) return concludeFinal(id, found as FinalHolding, nodes, finals);
    const answers: NodeAnswer[] = [];
    for (const [i, [final, judge]] of replies.entries())
      answers.push(
        (await judge?.(trust, networkName)) ?? {
          node: nodes[i]!,
          kind: 'failure',
          reason: (final as { failure: string }).failure,
        },
      );
    const weighed = weighAnswers(answers, maxAgeSeconds, now());
    const shown = conclude(id, weighed, answers, required);
    if (shown && GUARANTEES.indexOf(shown.guarantee) <= GUARANTEES.indexOf(atLeast)) return shown;
    if (weighed.refuted !== undefined) throw weighed.refuted;
    const most = shown === undefined ? 'nothing is shown' : `only "${shown.guarantee}" is shown`;
    const reasons = weighed.asked.map(({ node, reason }) => `${node}: ${reason}`).join('; ');
    const agree = `${weighed.heads.length} of ${nodes.length} nodes agree and are current`;
    throw new Unproven(
      `NFT ${id}: ${most}, not "${atLeast}": ${agree}, of ${required} that must (${reasons})`,
      weighed.asked,
      shown,
    );
  }
  // the guarantee was compared, which types cannot
  return { nft: nft as Verifier['nft'] };
}

function requireOption(isSo: boolean, sentence: string): void {
  if (!isSo) throw new RangeError(sentence);
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
const isPositive = (value: number): boolean => Number.isFinite(value) && value > 0;

/** Returns a URL without a slash at the end. No error repeats it: it may have a password. */
function readUrl(text: string, place: number): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new RangeError(`node ${place + 1} is no URL`);
  }
  const { origin, pathname, protocol, username, password } = url;
  requireOption(
    (protocol === 'http:' || protocol === 'https:') && username === '' && password === '',
    `node ${place + 1} is no URL of a node: http or https, without user name and password`,
  );
  return (origin + pathname).replace(/([^/])\/+$/, '$1');
}

/** Returns one text for all names of this machine, and for a name with and without its last dot. */
function machineOf(node: string): string {
  const { protocol, hostname, port, pathname } = new URL(node);
  const host = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  const isHere =
    ['localhost', '0.0.0.0', '[::]', '[::1]'].includes(host) ||
    host.endsWith('.localhost') ||
    /^(?:127(?:\.\d{1,3}){3}|\[::ffff:7f[^\]]*\])$/.test(host);
  return `${protocol}//${isHere ? 'localhost' : host}:${port}${pathname}`;
}

export type { MilestoneKey, VerifySignature } from './milestone-keys.ts';
export type { NftState, SignedMilestone } from './provenance/provenance.ts';
export type { FetchedAnswer, FetchInit } from './verifier/read-node-json.ts';
export {
  type AnswerByFinalRoot,
  type ClaimedAnswer,
  type CreatedAnswer,
  type Guarantee,
  type MilestoneTime,
  Unproven,
  type UnrefutedAnswer,
  type VerifiedNft,
} from './verifier/verified-nft.ts';
export { type AskedNode, Refuted, type Witness } from './verifier/weigh-answers.ts';
