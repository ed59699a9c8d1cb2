/**
 * What the answers of several nodes about one NFT show together, by
 * docs/contract.md#what-several-certificates-prove. src/stardust/verifier.ts asks the nodes.
 */
import { laterState, type NftState, provedValue } from '../provenance/provenance.ts';
import type { NodeAnswer } from './ask-about-nft.ts';

/** How one of the nodes that were asked stands to the answer. */
export interface AskedNode {
  node: string;
  /**
   * - `agrees`: its certificate is of this state, and its ledger is current.
   * - `behind`: its ledger is not as far as the state; or its certificate verifies, but its newest
   *   milestone is not current.
   * - `refuted`: its ledger is as far as the state, and it gave the certificate of an earlier one.
   * - `claims`: it has no certificate, and says the same.
   * - `disputes`: it has no certificate, and says something else.
   * - `failed`: it gave no answer, or one that does not verify.
   */
  standing: 'agrees' | 'behind' | 'refuted' | 'claims' | 'disputes' | 'failed';
  /** A sentence without its full stop. */
  reason: string;
}

/** A certificate, and who gave it. */
export interface Witness {
  node: string;
  /** As the node answered it: JSON. */
  certificate: unknown;
  state: NftState;
}

/**
 * Two certificates that verify, of which one shows that the node of the other did not tell the
 * truth: its ledger had come as far, and it gave an earlier state. Or both cannot be true, as the
 * keys signed two milestones with one index.
 */
export class Refuted extends Error {
  override readonly name = 'Refuted';
  readonly refuted: Witness;
  readonly by: Witness;

  constructor(refuted: Witness, by: Witness, reason: string) {
    super(reason);
    this.refuted = refuted;
    this.by = by;
  }
}

export interface Weighed {
  /** The latest state that a certificate proves. */
  latest: Witness | undefined;
  asked: AskedNode[];
  /** The heads of the nodes that agree. */
  heads: NftState['head'][];
  /** Of a node whose certificate the latest one refutes. */
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
  const latest = certified.reduce<Certified | undefined>(
    (best, each) => (best === undefined ? each : laterOf(best, each)),
    undefined,
  );
  const state = latest && provedValue(latest.proof);
  // a head is signed: if one is later than our clock, the clock is late
  const time = Math.max(now, ...certified.map(({ proof }) => provedValue(proof).head.timestamp));
  const weighed: Weighed = {
    latest: latest && witness(latest),
    asked: [],
    heads: [],
    refuted: undefined,
  };
  for (const answer of answers) {
    const { node } = answer;
    const judged = judge(answer, state, (head) => time - head.timestamp, maxAgeSeconds);
    weighed.asked.push({ node, ...judged });
    if (answer.kind !== 'certificate') continue;
    if (judged.standing === 'agrees') weighed.heads.push(provedValue(answer.proof).head);
    if (judged.standing === 'refuted')
      weighed.refuted ??= new Refuted(
        witness(answer),
        witness(latest!),
        `${node}: ${judged.reason}`,
      );
  }
  return weighed;
}

function witness({ node, certificate, proof }: Certified): Witness {
  return { node, certificate, state: provedValue(proof) };
}

/** The first one, if both are of one state. */
function laterOf(one: Certified, other: Certified): Certified {
  const later = laterState(one.proof, other.proof);
  if (later.standing !== 'proved') {
    const nodes = `${one.node} and ${other.node}`;
    const reason = later.standing === 'refuted' ? later.reason : 'both cannot be';
    throw new Refuted(witness(one), witness(other), `${nodes}: ${reason}`);
  }
  return provedValue(later.proof) === provedValue(one.proof) ? one : other;
}

function judge(
  answer: NodeAnswer,
  latest: NftState | undefined,
  ageOf: (head: NftState['head']) => number,
  maxAgeSeconds: number,
): Omit<AskedNode, 'node'> {
  if (answer.kind === 'failure') return { standing: 'failed', reason: answer.reason };
  if (answer.kind === 'word') {
    const { held, ledgerIndex, why } = answer;
    const says =
      held === undefined ? 'it has no such NFT' : `it says that ${held.outputId} holds it`;
    const isSame = latest === undefined || held?.outputId === latest.held?.outputId;
    // who honestly says something else of the latest state has come as far
    const isBehind =
      latest !== undefined && (ledgerIndex ?? latest.since.index) < latest.since.index;
    const standing = isSame ? 'claims' : isBehind ? 'behind' : 'disputes';
    const where = isBehind ? `, and its ledger is at milestone ${ledgerIndex}` : '';
    return { standing, reason: `${why}; ${says}${where}` };
  }
  const { since, head, blockId } = provedValue(answer.proof);
  const state = `its certificate is of milestone ${since.index}`;
  const [at, age] = [`its ledger is at milestone ${head.index}`, ageOf(head)];
  if (since.index !== latest!.since.index || blockId !== latest!.blockId)
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
