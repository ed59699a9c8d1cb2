/**
 * The routes that whoever checks this node's answers asks: blocks, milestones, receipts, proofs.
 */
import { Id, MilestoneIndex, WhiteFlagBody } from '../../src/http/schemas.ts';
import { type Described, errors, json, ledgerIndexHeader, parameter } from './describe.ts';
import * as responses from './responses.ts';

const blockId = parameter('path', 'blockId', Id, 'Block ID, 32 bytes.');
const transactionId = parameter('path', 'transactionId', Id, 'Transaction ID, 32 bytes.');
const milestoneId = parameter('path', 'milestoneId', Id, 'Milestone ID, 32 bytes.');
const milestoneIndex = parameter('path', 'milestoneIndex', MilestoneIndex, 'Milestone index.');

/** A GET with an answer in JSON, or in raw bytes too. */
function read(
  operationId: string,
  summary: string,
  parameters: readonly Described[],
  answer: Described,
  { raw = false, limited = false } = {},
): Described {
  const description = raw ? `${summary}; its bytes where Accept begins with their type.` : summary;
  return {
    get: {
      operationId,
      summary: `${summary} (TIP-25)`,
      parameters,
      responses: {
        200: {
          description,
          headers: ledgerIndexHeader,
          content: {
            ...answer,
            ...(raw && {
              'application/vnd.iota.serializer-v1': {
                schema: { type: 'string', format: 'binary' },
              },
            }),
          },
        },
        ...(parameters.length > 0 ? errors(400, 401, 403, 404, 500) : errors(401, 403, 500)),
        ...(limited && errors(429)),
      },
    },
  };
}

const block = json(responses.Block);
const blockMetadata = json(responses.BlockMetadata);
const milestone = json(responses.Milestone);
const utxoChanges = json(responses.UtxoChanges);
const receipts = json(responses.Receipts);

const receiptsOf = parameter(
  'path',
  'migratedAt',
  MilestoneIndex,
  'Milestone index of the legacy network.',
);

export const verificationPaths: Described = {
  '/api/core/v2/blocks/{blockId}': read('readBlock', 'A block', [blockId], block, {
    raw: true,
    limited: true,
  }),
  '/api/core/v2/blocks/{blockId}/metadata': read(
    'readBlockMetadata',
    'What became of a block',
    [blockId],
    blockMetadata,
    { limited: true },
  ),
  '/api/core/v2/transactions/{transactionId}/included-block': read(
    'readIncludedBlock',
    'The block whose transaction was applied',
    [transactionId],
    block,
    { raw: true },
  ),
  '/api/core/v2/transactions/{transactionId}/included-block/metadata': read(
    'readIncludedBlockMetadata',
    'What became of the block whose transaction was applied',
    [transactionId],
    blockMetadata,
  ),
  '/api/core/v2/milestones/{milestoneId}': read(
    'readMilestone',
    'A milestone',
    [milestoneId],
    milestone,
    { raw: true },
  ),
  '/api/core/v2/milestones/{milestoneId}/utxo-changes': read(
    'readUtxoChanges',
    'Outputs that a milestone created and consumed',
    [milestoneId],
    utxoChanges,
    { limited: true },
  ),
  '/api/core/v2/milestones/by-index/{milestoneIndex}': read(
    'readMilestoneByIndex',
    'A milestone by its index',
    [milestoneIndex],
    milestone,
    { raw: true },
  ),
  '/api/core/v2/milestones/by-index/{milestoneIndex}/utxo-changes': read(
    'readUtxoChangesByIndex',
    'Outputs that a milestone, by its index, created and consumed',
    [milestoneIndex],
    utxoChanges,
    { limited: true },
  ),
  '/api/core/v2/receipts': read('listReceipts', 'All receipts', [], receipts),
  '/api/core/v2/receipts/{migratedAt}': read(
    'listReceiptsOf',
    'The receipts of one milestone of the legacy network',
    [receiptsOf],
    receipts,
  ),
  '/api/core/v2/treasury': read('readTreasury', 'The treasury', [], json(responses.Treasury)),
  '/api/core/v2/tips': read(
    'listTips',
    'Open blocks that no block approves',
    [],
    json(responses.Tips),
  ),
  '/api/edge/v1/whiteflag': {
    post: {
      operationId: 'explainWhiteFlag',
      summary: 'The white flag, with every block that leads to its roots',
      requestBody: { required: true, content: json(WhiteFlagBody) },
      responses: {
        200: {
          description: 'Roots, blocks and verdicts.',
          headers: ledgerIndexHeader,
          content: json(responses.WhiteFlagExplanation),
        },
        ...errors(400, 401, 403, 404, 429, 500),
      },
    },
  },
  '/api/poi/v1/create/{blockId}': {
    get: {
      operationId: 'createProof',
      summary: 'Proof that a milestone references a block, as inx-poi gives it',
      parameters: [blockId],
      responses: {
        200: { description: 'Milestone, block and path.', content: json(responses.Inclusion) },
        ...errors(400, 401, 403, 404, 429, 500),
      },
    },
  },
  '/api/poi/v1/validate': {
    post: {
      operationId: 'validateProof',
      summary: 'Whether such a proof holds, by the keys of the settings',
      requestBody: { required: true, content: json(responses.Inclusion) },
      responses: {
        200: { description: 'The verdict.', content: json(responses.ProofJudgement) },
        ...errors(400, 401, 403, 500),
      },
    },
  },
};
