/**
 * GET /api/edge/v1/final, …/final/outputs/:outputId and …/final/nfts/:nftId: the root over a final
 * ledger, and proofs that an output or an NFT is or is not in it (docs/contract.md#final-ledger).
 */
import type { NoFinalLedger } from '../../../node/edge-node.ts';
import { toHex } from '../../../stardust/encoding/bytes.ts';
import {
  type FinalTreeName,
  finalLedgerToJson,
  finalProofToJson,
} from '../../../stardust/proof/final-ledger.ts';
import { type Answer, jsonAnswer } from '../../answer.ts';
import { HttpError } from '../../errors.ts';
import { noLedger } from '../../ledger-answer.ts';
import {
  arrayOf,
  bytesSchema,
  described,
  hashSchema,
  type JsonSchema,
  milestoneIndexSchema,
  named,
  objectOf,
  oneOf,
  textSchema,
} from '../../openapi/json-schema.ts';
import { inPath, type Operations, type RouteTable } from '../../openapi/operation.ts';
import type { RouteContext } from '../../route.ts';
import { Id, OutputId, parseId } from '../../schemas.ts';

export const finalLedgerRoutes = {
  readFinalLedger: { method: 'GET', path: '/api/edge/v1/final', handle: answerFinalLedger },
  proveFinalOutput: {
    method: 'GET',
    path: '/api/edge/v1/final/outputs/:outputId',
    limit: 'scanLimit',
    handle: (context) =>
      answerProof(context, 'outputs', parseId(OutputId, context.params.outputId, 'the output ID')),
  },
  proveFinalNft: {
    method: 'GET',
    path: '/api/edge/v1/final/nfts/:nftId',
    limit: 'scanLimit',
    handle: (context) =>
      answerProof(context, 'nfts', parseId(Id, context.params.nftId, 'the NFT ID')),
  },
} satisfies RouteTable;

/** Seconds after which a client may ask again while the trees are being built. */
const RETRY_AFTER = '60';

async function answerFinalLedger({ node }: RouteContext): Promise<Answer> {
  const found = await node.readFinalLedger();
  if (found?.ok !== true) throw noFinalLedger(found);
  const { ledger, root, snapshotSha256 } = found;
  const body = {
    ...finalLedgerToJson(ledger),
    finalRoot: toHex(root),
    ...(snapshotSha256 && { snapshotSha256 }),
  };
  return jsonAnswer(body, { ledgerIndex: ledger.milestoneIndex });
}

async function answerProof(
  { node }: RouteContext,
  tree: FinalTreeName,
  key: string,
): Promise<Answer> {
  const found = await node.proveFinal(tree, key);
  if (found?.ok !== true) throw noFinalLedger(found);
  const { ledger, proof } = found;
  return jsonAnswer(finalProofToJson(ledger, proof), { ledgerIndex: ledger.milestoneIndex });
}

export function noFinalLedger(found: Omit<NoFinalLedger, 'ok'> | undefined): HttpError {
  if (found === undefined)
    return new HttpError(404, 'there is no final ledger: FINAL_MILESTONE is not set');
  const { ledgerIndex, isBuilding } = found;
  if (ledgerIndex === undefined) return noLedger();
  if (!isBuilding)
    return new HttpError(404, `the ledger is at ${ledgerIndex}, not at its final milestone`);
  const detail = 'the trees over the final ledger are being built; retry in a minute';
  return new HttpError(503, detail, { 'retry-after': RETRY_AFTER });
}

const place: JsonSchema = { type: 'integer', minimum: 0 };

const finalTreeSchema: JsonSchema = /* @__PURE__ */ named('FinalTree', () =>
  objectOf({
    count: described('How many records it has.', place),
    root: described('The Merkle root over the records in order of their IDs.', hashSchema),
  }),
);

function ledgerFields(): Record<string, JsonSchema> {
  return {
    networkName: textSchema,
    milestoneIndex: milestoneIndexSchema,
    milestoneId: hashSchema,
    outputs: described('The tree over all unspent outputs.', finalTreeSchema),
    nfts: described('The tree over all NFTs.', finalTreeSchema),
  };
}

export const finalLedgerSchema: JsonSchema = /* @__PURE__ */ named('FinalLedgerParts', () =>
  objectOf(ledgerFields()),
);

export const finalEntrySchema: JsonSchema = /* @__PURE__ */ named('FinalEntry', () =>
  objectOf({
    position: described('Place in the tree, from 0 on.', place),
    record: bytesSchema,
    path: described('Siblings on the path to the root, from the leaf up.', arrayOf(hashSchema)),
  }),
);

export function describeFinalLedger(): Operations<typeof finalLedgerRoutes> {
  const [ledger, entry] = [finalLedgerSchema, finalEntrySchema];
  const neighbour = oneOf(entry, { type: 'null' });
  const proof = named('FinalProof', {
    oneOf: [
      objectOf({ ledger, present: { type: 'boolean', const: true }, entry }),
      objectOf({
        ledger,
        present: { type: 'boolean', const: false },
        before: described('The record before the ID; null if the ID is before all.', neighbour),
        after: described('The record after the ID; null if the ID is after all.', neighbour),
      }),
    ],
  });
  const answer = { description: 'The proof.', schema: proof, ledgerIndex: 'named' } as const;
  return {
    readFinalLedger: {
      tag: 'proof',
      summary: 'The root over a final ledger, and what it commits to',
      answer: {
        description: 'The root.',
        schema: named(
          'FinalLedger',
          objectOf(
            { ...ledgerFields(), finalRoot: hashSchema },
            {
              snapshotSha256: described(
                'Hex of the SHA-256 of the file that the ledger was imported from.',
                { type: 'string', pattern: '^[0-9a-f]{64}$' },
              ),
            },
          ),
        ),
        ledgerIndex: 'named',
      },
      errors: [400, 404],
    },
    proveFinalOutput: {
      tag: 'proof',
      summary: 'The proof that an output is or is not in a final ledger',
      parameters: [inPath('outputId', OutputId, 'Output ID, 34 bytes.')],
      answer,
      errors: [400, 404],
    },
    proveFinalNft: {
      tag: 'proof',
      summary: 'The proof that an NFT is or is not in a final ledger, and of its output',
      parameters: [inPath('nftId', Id, 'NFT ID, 32 bytes.')],
      answer,
      errors: [400, 404],
    },
  };
}
