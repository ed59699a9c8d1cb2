/**
 * What several edge nodes prove of an NFT together, in sentences: src/stardust/verifier.ts asks and
 * judges.
 */
import { describeSignedAge, formatTime } from '../src/stardust/provenance/provenance.ts';
import {
  type AskedNode,
  createVerifier,
  type MilestoneTime,
  type NftQuery,
  type VerifiedNft,
  type VerifierOptions,
} from '../src/stardust/verifier.ts';
import { causeOf, splitCredentials } from './node-client.ts';

/**
 * As `nft` of a verifier. A user name and a password in the URL of a node are sent by HTTP Basic;
 * why a node does not answer has its cause.
 */
export async function verifyNft(
  options: Omit<VerifierOptions, 'fetch'>,
  nftId: string,
  query: NftQuery,
): Promise<VerifiedNft> {
  const nodes = options.nodes.map(splitCredentials);
  const verifier = createVerifier({
    ...options,
    nodes: nodes.map(({ base }) => base),
    async fetch(url, init) {
      const { headers } = nodes.find(({ base }) => url.startsWith(`${base}/api/`))!;
      const { signal } = init as { signal: AbortSignal };
      try {
        return await fetch(url, { redirect: 'manual', signal, headers });
      } catch (error) {
        throw new Error(causeOf(error), { cause: error });
      }
    },
  });
  return verifier.nft(nftId, query);
}

/** How many nodes stand how, and how each of them stands to the answer. */
export function describeAsked(asked: readonly AskedNode[]): string[] {
  const counts = Object.entries(VERBS).flatMap(([standing, [one, more]]) => {
    const count = asked.filter((each) => each.standing === standing).length;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : more}`];
  });
  const nodes = asked.length === 1 ? '1 node was' : `${asked.length} nodes were`;
  return [
    ...asked.map(
      ({ node, standing, refutes, reason }) =>
        `${node} ${VERBS[standing][0]}${refutes ? ', and refutes others' : ''}: ${reason}.`,
    ),
    `${nodes} asked: ${counts.join(', ')}.`,
  ];
}

/** Of one node, and of several. */
const VERBS: Readonly<Record<AskedNode['standing'], readonly [string, string]>> = {
  agrees: ['agrees', 'agree'],
  behind: ['is behind', 'are behind'],
  refuted: ['is refuted', 'are refuted'],
  claims: ['says the same without a proof', 'say the same without a proof'],
  disputes: ['says something else without a proof', 'say something else without a proof'],
  failed: ['proves nothing', 'prove nothing'],
};

/** The verdict, and what it does not say. @param now Unix seconds */
export function describeNft(found: VerifiedNft, now: number): string {
  const { guarantee, nftId, since, asked } = found;
  const where =
    found.standing === 'held' ? `is in output ${found.outputId}` : `is ${found.standing}`;
  const held = `NFT ${nftId} ${where}${since ? ` since milestone ${describeTime(since)}` : ''}`;
  switch (guarantee) {
    case 'final':
      return `Verified: ${held}, in the ledger that ended at milestone ${found.asOf.milestoneIndex}.`;
    case 'unrefuted': {
      const count = asked.filter(({ standing }) => standing === 'agrees').length;
      const age = describeSignedAge(found.asOf, now);
      return `Verified: ${held}, as of milestone ${describeTime(found.asOf)} (${age}), if one of the ${count} nodes that agree is honest. No node that was asked refutes or disputes it.`;
    }
    case 'created':
      return `Verified: ${held}, or was changed later. Not checked: whether it was.`;
    case 'claimed':
      return `Not checked: ${held}, as the nodes say.`;
  }
}

function describeTime({ milestoneIndex, timestamp }: MilestoneTime): string {
  return `${milestoneIndex} of ${formatTime(timestamp)} UTC`;
}
