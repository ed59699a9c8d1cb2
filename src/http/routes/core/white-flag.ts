/**
 * POST /api/core/v2/whiteflag: the roots of a milestone (TIP-25; docs/contract.md#white-flag).
 * Steps 1 and 2 of the contract are here, the others in src/node/compute-white-flag.ts.
 */
import * as v from 'valibot';
import type {
  InPlace,
  RefusalReason,
  WhiteFlagRefusal,
  WhiteFlagRequest,
} from '../../../node/compute-white-flag.ts';
import { digitsOf, MAX_UINT32, uint32 } from '../../../platform/json-schemas.ts';
import { toHex } from '../../../stardust/encoding/bytes.ts';
import { clientKeyOf } from '../../access/client-address.ts';
import { type Answer, jsonAnswer } from '../../answer.ts';
import { HttpError } from '../../errors.ts';
import { hashSchema, named, namedObject } from '../../openapi/json-schema.ts';
import type { Operations } from '../../openapi/operation.ts';
import { Id, readJsonObject } from '../../request.ts';
import type { RouteContext, RouteTable } from '../../route.ts';

export const whiteFlagRoutes = {
  computeWhiteFlag: {
    method: 'POST',
    path: '/api/core/v2/whiteflag',
    keep: 'never',
    limit: 'whiteFlagLimit',
    handle: answerWhiteFlag,
  },
} satisfies RouteTable;

const MAX_PARENTS = 8;

/** One pattern: generators of clients make nothing of a union. */
const IdOrEmpty = v.pipe(v.string(), v.regex(/^(?:0[xX][0-9a-fA-F]{64})?$/));

const WhiteFlagBody = v.object(
  {
    // the genesis index is 0 or more, and the first milestone comes after it
    index: v.message(
      v.pipe(uint32, v.minValue(1)),
      `index must be an integer from 1 to ${MAX_UINT32}`,
    ),
    timestamp: v.message(uint32, `timestamp must be an integer from 0 to ${MAX_UINT32}`),
    parents: v.pipe(
      v.message(
        v.pipe(
          v.array(Id),
          v.minLength(1),
          v.description(
            `Block IDs, 1 to ${MAX_PARENTS} distinct ones; repeats are dropped, the order decides.`,
          ),
        ),
        'parents must be a list of block IDs, each 0x and 64 hex digits, at least one',
      ),
      v.transform((parents) => [...new Set(parents.map(digitsOf))]),
      v.maxLength(MAX_PARENTS, `parents must have at most ${MAX_PARENTS} distinct values`),
    ),
    previousMilestoneId: v.message(
      v.pipe(v.nullish(IdOrEmpty, ''), v.transform(digitsOf)),
      'previousMilestoneId must be 0x and 64 hex digits, or be left out',
    ),
  },
  'index, timestamp and parents must be given',
);

/** Reads the body of a request to either route of the white flag. Throws an HttpError 400. */
export async function readProposal(request: Request): Promise<WhiteFlagRequest> {
  const body = await readJsonObject(request);
  const result = v.safeParse(WhiteFlagBody, body, { abortEarly: true });
  if (!result.success) throw new HttpError(400, result.issues[0].message);
  return result.output;
}

export const REFUSAL_STATUSES: Record<RefusalReason, 400 | 404 | 500> = {
  impossible: 400,
  unknown: 404,
  failed: 500,
};

async function answerWhiteFlag({ request, node, notes, inPlace }: RouteContext): Promise<Answer> {
  const asked = await readProposal(request);
  notes.proposal = proposalToJson(asked);
  const place: InPlace = (work) => inPlace('proposal', work);
  const result = await node.computeWhiteFlag(asked, clientKeyOf(request), place);
  if (!result.ok) throw whiteFlagError(asked, result);
  notes.source = 'd1';
  notes.blocks = result.blocks;
  notes.stages = result.stages;
  const roots = {
    inclusionMerkleRoot: toHex(result.inclusionMerkleRoot),
    appliedMerkleRoot: toHex(result.appliedMerkleRoot),
  };
  return jsonAnswer(roots, { ledgerIndex: asked.index - 1 });
}

/**
 * Returns the error of a refusal. "Not found" is said of the state that was asked about, unless the
 * ledger is elsewhere; a request that can never be right has no ledger index.
 */
export function whiteFlagError(
  { index }: WhiteFlagRequest,
  { reason, detail, ledgerIndex }: WhiteFlagRefusal,
): HttpError {
  const error = new HttpError(REFUSAL_STATUSES[reason], detail);
  error.ledgerIndex = ledgerIndex ?? (reason === 'unknown' ? index - 1 : undefined);
  return error;
}

/** Request for the log: whoever was halted by a wrong answer finds it there. */
function proposalToJson({ index, timestamp, parents, previousMilestoneId }: WhiteFlagRequest) {
  return {
    index,
    timestamp,
    parents: parents.map((id) => `0x${id}`),
    previousMilestoneId: previousMilestoneId && `0x${previousMilestoneId}`,
  };
}

export const whiteFlagRequestSchema = /* @__PURE__ */ named(
  'WhiteFlagRequest',
  () => WhiteFlagBody,
);

export const EXAMPLE_PROPOSAL = {
  index: 17340,
  timestamp: 1664385906,
  parents: [
    '0x3e3042d1e032553eb5a3da6587c1c68e727335cc3ea4add0b5d0482ae1b9a469',
    '0x520e452607749899dbb249dc7dc36d9736a2729f1de9694f326fe0332028771f',
    '0x86001dca2be80a647d9e71c73147ee8a9f9635770bf5d4f4048c7c8196be208c',
    '0x91c8b4911b345bb0b0aa269569c20a145b991cb457f26516f55511b6653962ff',
    '0xb31ca9dc98a30372a2247e6a08a5d3d49243e6695b25f53c47922ca73910226f',
    '0xe8bffd79bec90dd051b331d5d2be36fa431dfdc03225850642632a3b92f9b289',
  ],
  previousMilestoneId: '0xef16bf8eae2756dce09732f6faa0ba906e5991e82133b68c9bff8c9486b9af59',
};

export const describeWhiteFlag = (): Operations<typeof whiteFlagRoutes> => ({
  computeWhiteFlag: {
    tag: 'core',
    summary: 'The Merkle roots of a milestone, next or past (TIP-25)',
    body: whiteFlagRequestSchema,
    answer: {
      description: 'Both roots, complete.',
      schema: namedObject('WhiteFlagRoots', {
        inclusionMerkleRoot: hashSchema,
        appliedMerkleRoot: hashSchema,
      }),
      ledgerIndex: 'named',
    },
    errors: [400, 404],
    example: '/api/core/v2/whiteflag',
    exampleBody: EXAMPLE_PROPOSAL,
  },
});
