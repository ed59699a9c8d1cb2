/**
 * What several edge nodes prove of an NFT together, in sentences: src/stardust/verifier.ts asks and
 * judges.
 */
import { describeSignedAge, formatTime } from '../src/stardust/provenance/provenance.ts';
import {
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

/** How each node stands to the answer. */
export function describeAsked({ asked }: Pick<VerifiedNft, 'asked'>): string[] {
  return asked.map(({ node, standing, reason }) => `${node} ${VERBS[standing]}: ${reason}.`);
}

const VERBS: Readonly<Record<VerifiedNft['asked'][number]['standing'], string>> = {
  agrees: 'agrees',
  behind: 'is behind',
  refuted: 'is refuted',
  claims: 'says the same without a proof',
  disputes: 'says something else without a proof',
  failed: 'proves nothing',
};

/** The verdict, and what it does not say. @param now Unix seconds */
export function describeNft(found: VerifiedNft, now: number): string {
  const { guarantee, nftId, since, asOf, asked } = found;
  const where =
    found.standing === 'held' ? `is in output ${found.outputId}` : `is ${found.standing}`;
  const held = `NFT ${nftId} ${where}${since ? ` since milestone ${describeTime(since)}` : ''}`;
  switch (guarantee) {
    case 'final':
      return `Verified: ${held}, in the ledger that ended at milestone ${asOf?.milestoneIndex}.`;
    case 'unrefuted': {
      const count = asked.filter(({ standing }) => standing === 'agrees').length;
      const age = describeSignedAge({ timestamp: asOf!.timestamp! }, now);
      return `Verified: ${held}, as of milestone ${describeTime(asOf!)} (${age}). ${count} nodes agree, and none refutes them.`;
    }
    case 'created':
      return `Verified: ${held}, or was changed later. Not checked: whether it was.`;
    case 'claimed':
      return `Not checked: ${held}, as the nodes say.`;
  }
}

function describeTime({ milestoneIndex, timestamp }: MilestoneTime): string {
  return timestamp === undefined
    ? String(milestoneIndex)
    : `${milestoneIndex} of ${formatTime(timestamp)} UTC`;
}
