/**
 * The OpenAPI 3.1 description of all routes. Requests are described by the schemas that check them
 * (src/http/schemas.ts).
 */
import { MAX_IDS } from '../../src/http/routes/edge/nfts.ts';
import { Id, MilestoneIndex, OutputId, WhiteFlagBody } from '../../src/http/schemas.ts';
import {
  type Described,
  describeErrorResponse,
  ERRORS,
  errors,
  json,
  ledgerIndexHeader,
  parameter,
  schemaOf,
} from './describe.ts';
import { nftParameters } from './nft-parameters.ts';
import * as responses from './responses.ts';
import { verificationPaths } from './verification-paths.ts';

const minLedgerIndex = parameter(
  'header',
  'X-Min-Ledger-Index',
  MilestoneIndex,
  'Asks for an answer at this ledger index or later.',
);

/** Of answers that may be kept for seconds. */
const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  schema: { type: 'string' },
};
const taggedHeaders = { ...ledgerIndexHeader, ETag: { schema: { type: 'string' } } };
const notModified = {
  304: {
    description: 'Nothing changed since the answer with this ETag.',
    headers: ledgerIndexHeader,
  },
};

const outputId = parameter(
  'path',
  'outputId',
  OutputId,
  'Transaction ID and output index, 34 bytes.',
);

export function buildDocument(version: string): Described {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Stardust edge node',
      version,
      description:
        'Reads of an IOTA Stardust node, answered from the edge. HEAD is answered as GET; ' +
        'OPTIONS is a preflight on every path; a method that a path does not have is 405.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    // PROTECTED_ROUTES of a deployment says where a password or a token is needed
    security: [{}, { basic: [] }, { bearer: [] }],
    paths: {
      '/api/indexer/v1/outputs/nft/{nftId}': {
        get: {
          operationId: 'lookUpNft',
          summary: 'The unspent output of an NFT (TIP-26)',
          parameters: [
            parameter('path', 'nftId', Id, 'NFT ID, 32 bytes.'),
            minLedgerIndex,
            ifNoneMatch,
          ],
          responses: {
            200: {
              description: 'The output that holds the NFT.',
              headers: taggedHeaders,
              content: json(responses.Nft),
            },
            ...notModified,
            ...errors(400, 401, 403, 404, 500),
          },
        },
      },
      '/api/indexer/v1/outputs/nft': {
        get: {
          operationId: 'listNfts',
          summary: 'The unspent NFT outputs with given properties, page by page (TIP-26)',
          parameters: [...nftParameters(), minLedgerIndex, ifNoneMatch],
          responses: {
            200: {
              description: 'A page of the list.',
              headers: taggedHeaders,
              content: json(responses.NftList),
            },
            ...notModified,
            ...errors(400, 401, 403, 404, 429, 500),
          },
        },
      },
      '/api/edge/v1/nfts/{nftId}': {
        get: {
          operationId: 'readNft',
          summary: 'An NFT with its output, metadata and owner',
          parameters: [
            parameter('path', 'nftId', Id, 'NFT ID, 32 bytes.'),
            minLedgerIndex,
            ifNoneMatch,
          ],
          responses: {
            200: {
              description: 'The NFT.',
              headers: taggedHeaders,
              content: json(responses.NftOutput),
            },
            ...notModified,
            ...errors(400, 401, 403, 404, 500),
          },
        },
      },
      '/api/edge/v1/nfts': {
        get: {
          operationId: 'readNfts',
          summary: 'Up to 100 NFTs with their outputs, metadata and owners, of one moment',
          parameters: [
            {
              name: 'ids',
              in: 'query',
              required: true,
              description: 'NFT IDs, separated by commas.',
              schema: { type: 'array', minItems: 1, maxItems: MAX_IDS, items: schemaOf(Id) },
              style: 'form',
              explode: false,
            },
            minLedgerIndex,
            ifNoneMatch,
          ],
          responses: {
            200: {
              description: 'The NFTs.',
              headers: taggedHeaders,
              content: json(responses.NftOutputs),
            },
            ...notModified,
            ...errors(400, 401, 403, 404, 500),
          },
        },
      },
      '/api/core/v2/whiteflag': {
        post: {
          operationId: 'computeWhiteFlag',
          summary: 'The Merkle roots of a milestone, next or past (TIP-25)',
          requestBody: { required: true, content: json(WhiteFlagBody) },
          responses: {
            200: {
              description: 'Both roots, complete.',
              headers: ledgerIndexHeader,
              content: json(responses.WhiteFlag),
            },
            ...errors(400, 401, 403, 404, 429, 500),
          },
        },
      },
      '/health': {
        get: {
          operationId: 'readHealth',
          summary: 'Whether the ledger is current',
          responses: {
            200: { description: 'Healthy.' },
            ...errors(401, 403, 500),
            503: { description: 'Not healthy; X-Error-Detail says why.' },
          },
        },
      },
      '/metrics': {
        get: {
          operationId: 'readMetrics',
          summary: 'The state of the node for Prometheus; only where PUBLIC_ROUTES names it',
          responses: {
            200: {
              description: 'Text format of Prometheus, version 0.0.4.',
              headers: ledgerIndexHeader,
              content: { 'text/plain': { schema: { type: 'string' } } },
            },
            ...errors(401, 403, 500),
          },
        },
      },
      '/api/routes': {
        get: {
          operationId: 'listApis',
          summary: 'Which APIs are here',
          responses: {
            200: { description: 'Their names.', content: json(responses.ApiRoutes) },
            ...errors(401, 403, 500),
          },
        },
      },
      '/api/core/v2/info': {
        get: {
          operationId: 'readInfo',
          summary: 'The node and its protocol parameters (TIP-25)',
          responses: {
            200: { description: 'The node.', content: json(responses.Info) },
            ...errors(401, 403, 500),
          },
        },
      },
      '/api/core/v2/outputs/{outputId}': {
        get: {
          operationId: 'readOutput',
          summary: 'An output, unspent or spent and not pruned (TIP-25)',
          parameters: [outputId, minLedgerIndex, ifNoneMatch],
          responses: {
            200: {
              description: 'The output; its bytes alone where Accept begins with their type.',
              headers: taggedHeaders,
              content: {
                ...json(responses.Output),
                'application/vnd.iota.serializer-v1': {
                  schema: { type: 'string', format: 'binary' },
                },
              },
            },
            ...notModified,
            ...errors(400, 401, 403, 404, 500),
          },
        },
      },
      '/api/core/v2/outputs/{outputId}/metadata': {
        get: {
          operationId: 'readOutputMetadata',
          summary: 'When an output was booked and spent (TIP-25)',
          parameters: [outputId, minLedgerIndex, ifNoneMatch],
          responses: {
            200: {
              description: 'The metadata.',
              headers: taggedHeaders,
              content: json(responses.OutputMetadata),
            },
            ...notModified,
            ...errors(400, 401, 403, 404, 500),
          },
        },
      },
      '/api/edge/v1/whiteflag/{milestoneIndex}': {
        get: {
          operationId: 'explainMilestone',
          summary:
            'The blocks of an applied milestone in white-flag order, with the verdict on each',
          parameters: [
            parameter('path', 'milestoneIndex', MilestoneIndex, 'Index of the milestone.'),
          ],
          responses: {
            200: { description: 'The milestone.', content: json(responses.ExplainedMilestone) },
            ...errors(400, 401, 403, 404, 429, 500),
          },
        },
      },
      '/api/edge/v1/blocks/{blockId}/proof': {
        get: {
          operationId: 'proveBlock',
          summary:
            'That a block belongs to a milestone: the audit path to its signed inclusion root',
          parameters: [parameter('path', 'blockId', Id, 'Block ID, 32 bytes.')],
          responses: {
            200: {
              description:
                'Milestone, block and path; ' +
                'a second path to the applied root where the transaction was applied.',
              content: json(responses.Proof),
            },
            ...errors(400, 401, 403, 404, 429, 500),
          },
        },
      },
      ...verificationPaths,
      '/openapi.json': {
        get: {
          operationId: 'describeApi',
          summary: 'This description',
          responses: {
            200: {
              description: 'OpenAPI 3.1.',
              content: { 'application/json': { schema: { type: 'object' } } },
            },
            ...errors(401, 403, 500),
          },
        },
      },
      '/': {
        get: {
          operationId: 'showPage',
          summary: 'A page for people',
          responses: {
            200: {
              description: 'The page.',
              content: { 'text/html': { schema: { type: 'string' } } },
            },
            ...errors(401, 403, 500),
          },
        },
      },
      '/verifier.js': {
        get: {
          operationId: 'readVerifier',
          summary: 'The script by which the page verifies this node',
          responses: {
            200: {
              description: 'A module.',
              content: { 'text/javascript': { schema: { type: 'string' } } },
            },
            ...errors(401, 403, 500),
          },
        },
      },
    },
    components: {
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
      responses: Object.fromEntries(
        Object.entries(ERRORS).map(([status, description]) => [
          status,
          describeErrorResponse(status, description),
        ]),
      ),
    },
  };
}
