/**
 * GET /api/edge/v1/final, …/final/outputs/:outputId and …/final/nfts/:nftId: the root over a final
 * ledger, and proofs that an output or an NFT is or is not in it (docs/contract.md#final-ledger).
 */
import { type Answer, jsonAnswer } from '../../../http/answer.ts';
import { HttpError } from '../../../http/errors.ts';
import { noLedger } from '../../../http/ledger-answer.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import { inPath, type Operations } from '../../../http/openapi/operation.ts';
import { Id, OutputId, parseId } from '../../../http/request.ts';
import type { RouteContext, RouteTable } from '../../../http/route.ts';
import type { Settings } from '../../../settings.ts';
import { toHex } from '../../../stardust/encoding/bytes.ts';
import {
  type FinalTreeName,
  finalLedgerToJson,
  finalProofToJson,
} from '../../../stardust/proof/final-ledger.ts';
import type { Layout } from '../final-tables.ts';
import { type NoFinalLedger, proveFinal, readFinalLedger } from '../prove-final.ts';

/** @param layout how the trees are cut, for tests */
export const finalLedgerRoutes = (layout?: Layout) =>
  ({
    readFinalLedger: { method: 'GET', path: '/api/edge/v1/final', handle: answerFinalLedger },
    proveFinalOutput: {
      method: 'GET',
      path: '/api/edge/v1/final/outputs/:outputId',
      limit: 'scanLimit',
      handle: (context) => answerProof(context, 'outputs', layout),
    },
    proveFinalNft: {
      method: 'GET',
      path: '/api/edge/v1/final/nfts/:nftId',
      limit: 'scanLimit',
      handle: (context) => answerProof(context, 'nfts', layout),
    },
  }) satisfies RouteTable;

/** Seconds after which a client may ask again while the trees are being built. */
const RETRY_AFTER = '60';

async function answerFinalLedger({ node, settings }: RouteContext): Promise<Answer> {
  const found = await readFinalLedger(node.session(), finalMilestoneOf(settings));
  if (!found.ok) throw noFinalLedger(found);
  const { ledger, root, snapshotSha256 } = found;
  const body = {
    ...finalLedgerToJson(ledger),
    finalRoot: toHex(root),
    ...(snapshotSha256 && { snapshotSha256 }),
  };
  return jsonAnswer(body, { ledgerIndex: ledger.milestoneIndex });
}

async function answerProof(
  { params, node, settings }: RouteContext,
  tree: FinalTreeName,
  layout: Layout | undefined,
): Promise<Answer> {
  const key =
    tree === 'outputs'
      ? parseId(OutputId, params.outputId, 'the output ID')
      : parseId(Id, params.nftId, 'the NFT ID');
  const found = await proveFinal(node.session(), finalMilestoneOf(settings), tree, key, layout);
  if (!found.ok) throw noFinalLedger(found);
  const { ledger, proof } = found;
  return jsonAnswer(finalProofToJson(ledger, proof), { ledgerIndex: ledger.milestoneIndex });
}

export function finalMilestoneOf({ finalMilestone }: Settings): number {
  if (finalMilestone !== undefined) return finalMilestone;
  throw new HttpError(404, 'there is no final ledger: FINAL_MILESTONE is not set');
}

export function noFinalLedger({ ledgerIndex, isBuilding }: Omit<NoFinalLedger, 'ok'>): HttpError {
  if (ledgerIndex === undefined) return noLedger();
  if (!isBuilding)
    return new HttpError(404, `the ledger is at ${ledgerIndex}, not at its final milestone`);
  const detail = 'the trees over the final ledger are being built; retry in a minute';
  return new HttpError(503, detail, { 'retry-after': RETRY_AFTER });
}

const place: json.JsonSchema = { type: 'integer', minimum: 0 };

const finalTreeSchema: json.JsonSchema = /* @__PURE__ */ json.named('FinalTree', () =>
  json.objectOf({
    count: json.described('How many records it has.', place),
    root: json.described(
      'The Merkle root over the records in order of their IDs.',
      json.hashSchema,
    ),
  }),
);

function ledgerFields(): Record<string, json.JsonSchema> {
  return {
    networkName: json.textSchema,
    milestoneIndex: json.milestoneIndexSchema,
    milestoneId: json.hashSchema,
    outputs: json.described('The tree over all unspent outputs.', finalTreeSchema),
    nfts: json.described('The tree over all NFTs.', finalTreeSchema),
  };
}

export const finalLedgerSchema: json.JsonSchema = /* @__PURE__ */ json.named(
  'FinalLedgerParts',
  () => json.objectOf(ledgerFields()),
);

export const finalEntrySchema: json.JsonSchema = /* @__PURE__ */ json.named('FinalEntry', () =>
  json.objectOf({
    position: json.described('Place in the tree, from 0 on.', place),
    record: json.bytesSchema,
    path: json.described(
      'Siblings on the path to the root, from the leaf up.',
      json.arrayOf(json.hashSchema),
    ),
  }),
);

export function describeFinalLedger(): Operations<ReturnType<typeof finalLedgerRoutes>> {
  const [ledger, entry] = [finalLedgerSchema, finalEntrySchema];
  const neighbour = json.orNull(entry);
  const proof = json.named('FinalProof', {
    oneOf: [
      json.objectOf({ ledger, present: { type: 'boolean', const: true }, entry }),
      json.objectOf({
        ledger,
        present: { type: 'boolean', const: false },
        before: json.described(
          'The record before the ID; null if the ID is before all.',
          neighbour,
        ),
        after: json.described('The record after the ID; null if the ID is after all.', neighbour),
      }),
    ],
  });
  const ofProof = {
    tag: 'proof',
    answer: { description: 'The proof.', schema: proof, ledgerIndex: 'named' },
    errors: [400, 404],
  } as const;
  return {
    readFinalLedger: {
      tag: 'proof',
      summary: 'The root over a final ledger, and what it commits to',
      answer: {
        description: 'The root.',
        schema: json.namedObject(
          'FinalLedger',
          { ...ledgerFields(), finalRoot: json.hashSchema },
          {
            snapshotSha256: json.described(
              'Hex of the SHA-256 of the file that the ledger was imported from.',
              { type: 'string', pattern: '^[0-9a-f]{64}$' },
            ),
          },
        ),
        ledgerIndex: 'named',
      },
      errors: [400, 404],
    },
    proveFinalOutput: {
      ...ofProof,
      summary: 'The proof that an output is or is not in a final ledger',
      parameters: [inPath('outputId', OutputId, 'Output ID, 34 bytes.')],
    },
    proveFinalNft: {
      ...ofProof,
      summary: 'The proof that an NFT is or is not in a final ledger, and of its output',
      parameters: [inPath('nftId', Id, 'NFT ID, 32 bytes.')],
    },
  };
}
