/** One node's proof about an NFT: a certificate, else only its word; or a proof by a final root. */
import { fromHex, toHex } from '../encoding/bytes.ts';
import { asObject, text } from '../encoding/json-object.ts';
import { caughtRefusal, StardustError } from '../error.ts';
import { verifyFinal } from '../final.ts';
import { outputFromJson } from '../json/rest-json.ts';
import { encodeOutput } from '../output.ts';
import { finalLedgerFromJson } from '../proof/final-ledger.ts';
import { isOfNft } from '../provenance/certificate.ts';
import {
  MAX_CERTIFICATE_BYTES,
  type NftState,
  type Proved,
  proveCertificate,
  provedValue,
  type Trust,
} from '../provenance/provenance.ts';
import { decodeOutput, networkId } from '../wire/ids.ts';
import type { NftOutput } from '../wire/output.ts';
import { type Asked, readNodeJson } from './read-node-json.ts';

/** An output of 32 KB in hex is 66 KB, and an NFT's metadata come twice. */
const MAX_ANSWER_BYTES = 256 * 1024;

/** An output that holds an NFT. */
export interface NftHolder {
  /** `0x` and 68 hex digits. */
  outputId: string;
  output: NftOutput;
}

/** A node's answer about an NFT. Reasons are sentences without their full stop. */
export type NodeAnswer = { node: string } & (
  | { kind: 'certificate'; certificate: unknown; proof: Proved<NftState> }
  /** Only its word, without a certificate. `held` is undefined if it has no such NFT. */
  | { kind: 'word'; held: NftHolder | undefined; ledgerIndex: number | undefined; why: string }
  | { kind: 'failure'; reason: string }
);

type Judge = (trust: Trust, networkName: string) => Promise<NodeAnswer>;

/**
 * Reads what a node answers about an NFT: its certificate, or its word if it has none. Nothing is
 * judged yet: signatures take time, in which no other node could be read.
 */
export async function askAboutNft(asked: Asked, nftId: string): Promise<Judge> {
  const node = asked.url;
  const failure = (reason: string): NodeAnswer => ({ node, kind: 'failure', reason });
  const told = (answer: NodeAnswer) => async () => answer;
  const path = `/api/edge/v1/nfts/${nftId}`;
  const answer = await readNodeJson(asked, `${path}/certificate`, MAX_CERTIFICATE_BYTES);
  if ('failure' in answer) return told(failure(answer.failure));
  if (answer.status === 200)
    return async (trust, networkName) => {
      const { json: certificate } = answer;
      const finding = await proveCertificate(certificate, nftId, trust);
      if (finding.standing !== 'proved') return failure(finding.reason);
      if (provedValue(finding.proof).networkId !== networkId(networkName))
        return failure(`a certificate of another network than ${networkName}`);
      return { node, kind: 'certificate', certificate, proof: finding.proof };
    };
  const why = `no certificate, status ${answer.status}`;
  const word = await readNodeJson(asked, path, MAX_ANSWER_BYTES);
  if ('failure' in word) return told(failure(`${why}; ${word.failure}`));
  const { ledgerIndex } = word;
  // without an index it is not an edge node's
  if (word.status === 404 && ledgerIndex !== undefined)
    return told({ node, kind: 'word', held: undefined, ledgerIndex, why });
  if (word.status !== 200) return told(failure(`${why}; status ${word.status}`));
  return async () => {
    try {
      return { node, kind: 'word', held: readWord(word.json, nftId), ledgerIndex, why };
    } catch (error) {
      if (!(error instanceof StardustError)) throw error;
      return failure(`${why}; ${error.message}`);
    }
  };
}

function readWord(json: unknown, nftId: string): NftHolder {
  const object = asObject(json);
  const outputId = text(object, 'outputId');
  const output = outputFromJson(object.output);
  // its parts may break any rule
  encodeOutput(output);
  if (!/^0x[0-9a-f]{68}$/.test(outputId) || !isOfNft(output, fromHex(outputId), nftId))
    throw new StardustError('TIP-25', 'an answer about another NFT');
  return { outputId, output };
}

/** Holding of an NFT in a final ledger. */
export interface FinalHolding {
  /** Index of the last milestone. */
  milestoneIndex: number;
  /** Undefined where it is proven that the ledger does not have the NFT. */
  held: (NftHolder & { bookedIndex: number; bookedTimestamp: number }) | undefined;
}

/** @param root the final root that the reader trusts: 32 bytes */
export async function askFinal(
  asked: Asked,
  nftId: string,
  root: Uint8Array,
  networkName: string,
): Promise<FinalHolding | { failure: string }> {
  const ask = async (tree: string, id: string) => {
    const path = `/api/edge/v1/final/${tree}/${id}`;
    const answer = await readNodeJson(asked, path, MAX_ANSWER_BYTES);
    if ('failure' in answer || answer.status === 200) return answer;
    return { failure: `no proof of the final ledger, status ${answer.status}` };
  };
  try {
    const first = await ask('nfts', nftId);
    if ('failure' in first) return first;
    const nft = verifyFinal(first.json, { tree: 'nfts', id: fromHex(nftId), root });
    // to which the root commits
    const ledger = finalLedgerFromJson(asObject(first.json).ledger);
    if (ledger.networkName !== networkName)
      return { failure: `the final root is not of the network ${networkName}` };
    const { milestoneIndex } = ledger;
    if (!nft.present) return { milestoneIndex, held: undefined };
    const second = await ask('outputs', toHex(nft.outputId));
    if ('failure' in second) return second;
    const found = verifyFinal(second.json, { tree: 'outputs', id: nft.outputId, root });
    const output = found.present ? decodeOutput(found.output.bytes) : undefined;
    if (!found.present || output === undefined || !isOfNft(output, nft.outputId, nftId))
      return { failure: 'the final root is of no ledger' };
    const { bookedIndex, bookedTimestamp } = found.output;
    const held = { outputId: toHex(nft.outputId), output, bookedIndex, bookedTimestamp };
    return { milestoneIndex, held };
  } catch (error) {
    return { failure: caughtRefusal(error).reason };
  }
}
