/**
 * A verifier's answers about an NFT: a type for each guarantee, with the times that it has, by
 * docs/contract.md#what-several-certificates-prove.
 */
import type { NftOutput } from '../wire/output.ts';
import type { FinalHolding, NftHolder, NodeAnswer } from './ask-about-nft.ts';
import type { AskedNode, Weighed } from './weigh-answers.ts';

/**
 * How well an answer is founded, the best first.
 *
 * - `final`: the final root commits to it. The network has ended, and nothing can come later.
 * - `unrefuted`: at least two nodes, and as many as the caller demanded, each gave a certificate of
 *   this state beside a signed milestone that is no older than `maxAgeSeconds`; and no node that was
 *   named gave one of a later state, or disputes it without a certificate. It is the NFT's state at
 *   `asOf` if one of the nodes that agree is honest. A node whose newest milestone is older does not
 *   count, whatever it says.
 * - `created`: a certificate shows that the NFT came to this state at `since`. Whether it still has
 *   it is not shown: too few nodes agree, or they are not current, or one disputes it.
 * - `claimed`: no node has a certificate, as none has the block any more, and all that answered say
 *   the same. Nothing is shown.
 */
export type Guarantee = 'final' | 'unrefuted' | 'created' | 'claimed';

export interface MilestoneTime {
  milestoneIndex: number;
  /** Unix seconds. */
  timestamp: number;
}

interface Answered<G extends Guarantee, Since, AsOf> {
  guarantee: G;
  nftId: string;
  /** Milestone at which it came to this state; undefined if that is not shown. */
  since: Since;
  /**
   * Time up to which it had this state: `final`, the last milestone, without a time; `unrefuted`,
   * the oldest of the newest milestones of the nodes that agree; `created`, `since`.
   */
  asOf: AsOf;
  /** Each node that was named, in that order. */
  asked: readonly AskedNode[];
}

interface Held {
  standing: 'held';
  /** `0x` and 68 hex digits. */
  outputId: string;
  output: NftOutput;
}

/** `burned`: shown by a certificate. `absent`: no such NFT, burned or never minted. */
interface Gone<Standing extends 'burned' | 'absent'> {
  standing: Standing;
  outputId: undefined;
  output: undefined;
}

type LastMilestone = Pick<MilestoneTime, 'milestoneIndex'>;

export type AnswerByFinalRoot =
  | (Answered<'final', MilestoneTime, LastMilestone> & Held)
  | (Answered<'final', undefined, LastMilestone> & Gone<'absent'>);
type CertifiedNft<G extends Guarantee> = Answered<G, MilestoneTime, MilestoneTime> &
  (Held | Gone<'burned'>);
export type UnrefutedAnswer = CertifiedNft<'unrefuted'>;
export type CreatedAnswer = CertifiedNft<'created'>;
export type ClaimedAnswer = Answered<'claimed', undefined, undefined> & (Held | Gone<'absent'>);

interface AtLeast {
  final: AnswerByFinalRoot;
  unrefuted: AnswerByFinalRoot | UnrefutedAnswer;
  created: AnswerByFinalRoot | UnrefutedAnswer | CreatedAnswer;
  claimed: AnswerByFinalRoot | UnrefutedAnswer | CreatedAnswer | ClaimedAnswer;
}

/** An answer that has this guarantee, or a better one. */
export type VerifiedNft<Least extends Guarantee = Guarantee> = AtLeast[Least];

/** Less is shown than was demanded, and no node is caught lying. `asked` says why. */
export class Unproven extends Error {
  override readonly name = 'Unproven';
  /** Each node that was named, in that order. */
  readonly asked: readonly AskedNode[];
  /** Answer that is shown; undefined if that is nothing. */
  readonly shown: VerifiedNft | undefined;

  constructor(reason: string, asked: readonly AskedNode[], shown: VerifiedNft | undefined) {
    super(reason);
    this.asked = asked;
    this.shown = shown;
  }
}

/** Returns the answer with its guarantee; undefined if nothing is shown, or words differ. */
export function conclude(
  nftId: string,
  { latest, heads, asked }: Weighed,
  answers: readonly NodeAnswer[],
  required: number,
): VerifiedNft | undefined {
  if (latest === undefined) return concludeFromWords(nftId, answers, asked);
  const isUnrefuted =
    heads.length >= required && asked.every(({ standing }) => standing !== 'disputes');
  const since = momentOf(latest.since);
  const oldest = heads.reduce((one, other) => (other.index < one.index ? other : one), heads[0]!);
  const facts = { nftId, since, asked, ...(latest.held ? heldBy(latest.held) : gone('burned')) };
  return isUnrefuted
    ? { ...facts, guarantee: 'unrefuted', asOf: momentOf(oldest) }
    : { ...facts, guarantee: 'created', asOf: since };
}

function concludeFromWords(
  nftId: string,
  answers: readonly NodeAnswer[],
  asked: readonly AskedNode[],
): VerifiedNft | undefined {
  const word = answers.find((each) => each.kind === 'word');
  if (word === undefined || asked.some(({ standing }) => standing === 'disputes')) return undefined;
  const { held } = word;
  const facts = { nftId, since: undefined, asOf: undefined, asked };
  return { ...facts, guarantee: 'claimed', ...(held ? heldBy(held) : gone('absent')) };
}

/** The root commits to one answer, whoever gave it. */
export function concludeFinal(
  nftId: string,
  { milestoneIndex, held }: FinalHolding,
  nodes: readonly string[],
  finals: readonly (FinalHolding | { failure: string } | undefined)[],
): AnswerByFinalRoot {
  const asked = nodes.map((node, i): AskedNode => {
    const each = finals[i]!;
    return 'failure' in each
      ? { node, standing: 'failed', refutes: false, reason: each.failure }
      : { node, standing: 'agrees', refutes: false, reason: 'the final root commits to it' };
  });
  const facts = { nftId, guarantee: 'final' as const, asOf: { milestoneIndex }, asked };
  if (held === undefined) return { ...facts, since: undefined, ...gone('absent') };
  const since = { milestoneIndex: held.bookedIndex, timestamp: held.bookedTimestamp };
  return { ...facts, since, ...heldBy(held) };
}

const heldBy = ({ outputId, output }: NftHolder): Held => ({ standing: 'held', outputId, output });

function gone<Standing extends 'burned' | 'absent'>(standing: Standing): Gone<Standing> {
  return { standing, outputId: undefined, output: undefined };
}

function momentOf({ index, timestamp }: { index: number; timestamp: number }): MilestoneTime {
  return { milestoneIndex: index, timestamp };
}
