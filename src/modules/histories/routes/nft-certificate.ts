/**
 * GET /api/edge/v1/nfts/:nftId/certificate: proves that a transaction, which a signed milestone
 * applied, made a state of an NFT, not that nothing came later
 * (docs/contract.md#certificate-of-an-nft). src/stardust/provenance/certificate.ts verifies it.
 */
import type { Answer } from '../../../http/answer.ts';
import { HttpError } from '../../../http/errors.ts';
import { atLedger, hashedAnswer } from '../../../http/ledger-answer.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import { inPath, inQuery, type Operations } from '../../../http/openapi/operation.ts';
import { Id, parseId, parseMilestoneIndex, parseQueryString } from '../../../http/request.ts';
import { LEDGER_SCAN, type RouteContext, type RouteTable } from '../../../http/route.ts';
import { blake2b256 } from '../../../stardust/crypto/hash.ts';
import { toBase64 } from '../../../stardust/encoding/base64.ts';
import { toHex } from '../../../stardust/encoding/bytes.ts';
import { MAX_CERTIFICATE_BYTES } from '../../../stardust/provenance/certificate.ts';
import { auditPathSchema } from '../../proofs/routes/poi.ts';
import { type NamedChange, type NftCertificate, readNftCertificate } from '../nft-certificate.ts';

export const nftCertificateRoutes = {
  readNftCertificate: {
    ...LEDGER_SCAN,
    path: '/api/edge/v1/nfts/:nftId/certificate',
    query: ['milestone', 'block'],
    handle: answerCertificate,
  },
} satisfies RouteTable;

async function answerCertificate(context: RouteContext): Promise<Answer> {
  const { request, params } = context;
  const nftId = parseId(Id, params.nftId, 'the NFT ID');
  const named = parseChange(new URL(request.url).search);
  return atLedger(
    context,
    (db) => readNftCertificate(db, nftId, named),
    (found) => {
      if (!found.ok) throw new HttpError(404, REFUSALS[found.why]);
      const body = certificateToJson(nftId, found);
      if (JSON.stringify(body).length > MAX_CERTIFICATE_BYTES)
        throw new HttpError(500, 'the certificate would have more than 50 KB');
      return hashedAnswer(request, body);
    },
  );
}

/** Throws an HttpError 400. */
function parseChange(search: string): NamedChange | undefined {
  const values = parseQueryString(search);
  const [milestone, block] = [values.get('milestone'), values.get('block')];
  if (milestone !== undefined && block !== undefined)
    throw new HttpError(400, 'one of milestone and block may be given');
  if (block !== undefined) return { block: parseId(Id, block, 'block') };
  if (milestone === undefined) return undefined;
  return { milestone: parseMilestoneIndex(milestone, 'milestone') };
}

const REFUSALS = {
  unknown: 'no NFT with this ID was known, or it was burned before what is kept',
  'not kept': 'the block that changed the NFT is not kept',
  'not changed': 'this milestone or block did not change the NFT',
  'no head': 'the ledger has no signed milestone yet',
};

function certificateToJson(nftId: string, certificate: NftCertificate) {
  const { ledgerIndex, outputId, milestone, block, appliedProof, consumed, head } = certificate;
  return {
    nftId: `0x${nftId}`,
    ledgerIndex,
    outputId: outputId === undefined ? null : `0x${outputId}`,
    milestone: toBase64(milestone),
    block: toBase64(block),
    appliedProof,
    ...(outputId === undefined && {
      consumed: consumed.map(({ bytes, isOfNft }) =>
        isOfNft ? { output: toBase64(bytes) } : { hash: toHex(blake2b256(bytes)) },
      ),
    }),
    head: toBase64(head),
  };
}

export const describeNftCertificate = (): Operations<typeof nftCertificateRoutes> => ({
  readNftCertificate: {
    tag: 'proof',
    summary: 'The proof that an NFT came to a state in a signed milestone',
    description:
      'It does not prove that nothing came later: ask several nodes, and the latest certificate refutes the others.',
    parameters: [
      inPath('nftId', Id, 'NFT ID, 32 bytes.'),
      inQuery(
        'milestone',
        json.uint32Schema,
        'Whose change it is about: the last one of the NFT that this milestone applied. Default: the newest change.',
      ),
      inQuery(
        'block',
        Id,
        'The ID of the block whose change it is about, in place of `milestone`.',
      ),
    ],
    answer: {
      description: 'The certificate, up to 50 KB.',
      schema: json.namedObject(
        'NFTCertificate',
        {
          nftId: json.hashSchema,
          ledgerIndex: json.milestoneIndexSchema,
          outputId: json.described(
            'What held the NFT from then on; null if it was burned.',
            json.orNull(json.outputIdSchema),
          ),
          milestone: json.described(
            'Payload of the milestone that applied the transaction, with its signatures.',
            json.base64Schema,
          ),
          block: json.described('The block with the transaction.', json.base64Schema),
          appliedProof: json.described(
            "From the block to the milestone's applied root.",
            auditPathSchema,
          ),
          head: json.described("Payload of the ledger's milestone.", json.base64Schema),
        },
        {
          consumed: json.described(
            'If the NFT was burned: what the transaction consumed, in the order of its inputs; the output that held the NFT, and the hashes of the others.',
            json.arrayOf(
              json.oneOf(
                json.objectOf({ output: json.base64Schema }),
                json.objectOf({ hash: json.hashSchema }),
              ),
            ),
          ),
        },
      ),
      ledgerIndex: 'tagged',
    },
  },
});
