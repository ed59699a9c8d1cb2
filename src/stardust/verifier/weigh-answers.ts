/**
 * Weighs the answers of several nodes about one NFT, by
 * docs/contract.md#what-several-certificates-prove. src/stardust/verifier.ts asks the nodes.
 */
import { toHex } from '../encoding/bytes.ts';
import { encodeOutput } from '../output.ts';
import { laterState, type NftState, provedValue } from '../provenance/provenance.ts';
import type { NftHolder, NodeAnswer } from './ask-about-nft.ts';

/** How one of the nodes that were named stands to the answer. */
export interface AskedNode {
  node: string;
  /**
   * - `agrees`: its certificate is of this state, and its ledger is current.
   * - `behind`: its ledger is not as far as the state; or its certificate verifies, but its newest
   *   milestone is not current.
   * - `refuted`: its ledger is as far as the state, and it gave the certificate of an earlier one; or
   *   its milestone and another cannot both be.
   * - `claims`: it has no certificate, and says the same; where no node has one, all say it.
   * - `disputes`: it has no certificate, and says something else; or others do, and none has one.
   * - `failed`: it gave no answer, or one that proves nothing, as where the keys signed two chains.
   */
  standing: 'agrees' | 'behind' | 'refuted' | 'claims' | 'disputes' | 'failed';
  refutes: boolean;
  /** A sentence without its full stop. */
  reason: string;
}

/** A certificate, and who gave it. */
export interface Witness {
  node: string;
  /** JSON that the node answered. */
  certificate: unknown;
  state: NftState;
}

/**
 * Two certificates that verify, and cannot both be honest: one node's ledger had come as far, and
 * it gave an earlier state; or the keys signed two milestones with one index.
 */
export class Refuted extends Error {
  override readonly name = 'Refuted';
  readonly refuted: Witness;
  readonly by: Witness;
  /** Each node that was named, in that order. */
  readonly asked: readonly AskedNode[];

  constructor(refuted: Witness, by: Witness, reason: string, asked: readonly AskedNode[]) {
    super(reason);
    this.refuted = refuted;
    this.by = by;
    this.asked = asked;
  }
}

export interface Weighed {
  /** Latest state that a certificate proves; undefined if no node has one. */
  latest: NftState | undefined;
  /** Standings, one for each answer, in their order. */
  asked: AskedNode[];
  heads: NftState['head'][];
  /** Refutation of the first node whose certificate the latest one refutes. */
  refuted: Refuted | undefined;
}

type Certified = Extract<NodeAnswer, { kind: 'certificate' }>;

/**
 * Throws a {@link Refuted} where two certificates cannot both be true.
 *
 * @param now Unix seconds
 */
export function weighAnswers(
  answers: readonly NodeAnswer[],
  maxAgeSeconds: number,
  now: number,
): Weighed {
  const certified = answers.filter((each) => each.kind === 'certificate');
  requireOneChain(certified, answers);
  const latest = certified.reduce<Certified | undefined>(
    (best, each) => (best === undefined ? each : laterOf(best, each)),
    undefined,
  );
  const state = latest && provedValue(latest.proof);
  // a head is signed: if one is later than our clock, the clock is late
  const time = Math.max(now, ...certified.map(({ proof }) => provedValue(proof).head.timestamp));
  const words = answers.flatMap((each) => (each.kind === 'word' ? textOf(each.held) : []));
  const isOneWord = new Set(words).size === 1;
  const judged = answers.map((answer) => ({
    answer,
    ...judge(answer, state, isOneWord, (head) => time - head.timestamp, maxAgeSeconds),
  }));
  const isAnyRefuted = judged.some(({ standing }) => standing === 'refuted');
  const asked = judged.map(({ answer, standing, reason }) => {
    const isLatest =
      answer.kind === 'certificate' && isSameState(provedValue(answer.proof), state!);
    return { node: answer.node, standing, refutes: isAnyRefuted && isLatest, reason };
  });
  const weighed: Weighed = { latest: state, asked, heads: [], refuted: undefined };
  for (const { answer, standing, reason } of judged) {
    if (answer.kind !== 'certificate') continue;
    if (standing === 'agrees') weighed.heads.push(provedValue(answer.proof).head);
    if (standing === 'refuted')
      weighed.refuted ??= new Refuted(
        witness(answer),
        witness(latest!),
        `${answer.node}: ${reason}`,
        asked,
      );
  }
  return weighed;
}

/**
 * Throws a {@link Refuted} if two certificates have two milestones of one index: what several
 * certificates prove rests on keys that sign one.
 */
function requireOneChain(certified: readonly Certified[], answers: readonly NodeAnswer[]): void {
  const signed = new Map<number, { milestoneId: string; by: Certified }>();
  for (const one of certified) {
    const { since, head } = provedValue(one.proof);
    for (const { index, milestoneId, whose } of [since, head]) {
      const known = signed.get(index) ?? { milestoneId, by: one };
      signed.set(index, known);
      if (known.milestoneId === milestoneId) continue;
      const reason = `two milestones ${index} are signed by ${whose}`;
      const asked = answers.map((answer) => ({
        node: answer.node,
        standing:
          answer === one || answer === known.by ? ('refuted' as const) : ('failed' as const),
        refutes: answer === one || answer === known.by,
        reason: answer.kind === 'failure' ? answer.reason : reason,
      }));
      const nodes = `${known.by.node} and ${one.node}`;
      throw new Refuted(witness(known.by), witness(one), `${nodes}: ${reason}`, asked);
    }
  }
}

function witness({ node, certificate, proof }: Certified): Witness {
  return { node, certificate, state: provedValue(proof) };
}

/** Returns the first one, if both are of one state. */
function laterOf(one: Certified, other: Certified): Certified {
  const later = laterState(one.proof, other.proof);
  // two blocks in one place of a tree would be a collision of its hash
  if (later.standing !== 'proved') throw new TypeError('two states that cannot both be');
  return provedValue(later.proof) === provedValue(one.proof) ? one : other;
}

function isSameState(one: NftState, other: NftState): boolean {
  return one.since.index === other.since.index && one.blockId === other.blockId;
}

const textOf = (held: NftHolder | undefined): string =>
  held === undefined ? '' : held.outputId + toHex(encodeOutput(held.output));

function judge(
  answer: NodeAnswer,
  latest: NftState | undefined,
  isOneWord: boolean,
  ageOf: (head: NftState['head']) => number,
  maxAgeSeconds: number,
): Pick<AskedNode, 'standing' | 'reason'> {
  if (answer.kind === 'failure') return { standing: 'failed', reason: answer.reason };
  if (answer.kind === 'word') {
    const { held, ledgerIndex, why } = answer;
    const says =
      held === undefined ? 'it has no such NFT' : `it says that ${held.outputId} holds it`;
    const isSameState = latest === undefined ? isOneWord : held?.outputId === latest.held?.outputId;
    // who honestly says something else of the latest state has come as far
    const isBehind =
      latest !== undefined && (ledgerIndex ?? latest.since.index) < latest.since.index;
    const standing = isSameState ? 'claims' : isBehind ? 'behind' : 'disputes';
    const where = isBehind ? `, and its ledger is at milestone ${ledgerIndex}` : '';
    return { standing, reason: `${why}; ${says}${where}` };
  }
  const own = provedValue(answer.proof);
  const { since, head } = own;
  const state = `its certificate is of milestone ${since.index}`;
  const [at, age] = [`its ledger is at milestone ${head.index}`, ageOf(head)];
  if (!isSameState(own, latest!))
    return head.index >= latest!.since.index
      ? {
          standing: 'refuted',
          reason: `${at} and ${state}, but the NFT changed later, in milestone ${latest!.since.index}`,
        }
      : {
          standing: 'behind',
          reason: `${at}, and the NFT changed in milestone ${latest!.since.index}`,
        };
  return age <= maxAgeSeconds
    ? { standing: 'agrees', reason: `${at}, and ${state}` }
    : { standing: 'behind', reason: `${at}, which is ${Math.floor(age)} seconds old` };
}
