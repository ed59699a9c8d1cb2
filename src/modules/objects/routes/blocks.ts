/**
 * GET /api/core/v2/blocks/:blockId and …/metadata, also by the ID of an applied transaction
 * (TIP-25; docs/contract.md#blocks).
 */
import { clientKeyOf } from '../../../http/access/client-address.ts';
import { type Answer, jsonAnswer } from '../../../http/answer.ts';
import { UnknownHere } from '../../../http/errors.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import { coreRead, inPath, type Operations } from '../../../http/openapi/operation.ts';
import { Id, parseId } from '../../../http/request.ts';
import type { RouteContext, RouteTable } from '../../../http/route.ts';
import { milestoneIndexOf } from '../../../ledger/read/milestone-index.ts';
import {
  readBlock,
  readIncludedBlock,
  type StoredBlock,
} from '../../../ledger/read/stored-block.ts';
import { toHex } from '../../../stardust/encoding/bytes.ts';
import { decode } from '../../../stardust/encoding/codec.ts';
import { blockToJson, inclusionStateToJson } from '../../../stardust/json/rest-json.ts';
import { ConflictReason, describeReason } from '../../../stardust/semantics/verdict.ts';
import { block, parseBlock } from '../../../stardust/wire/block.ts';
import { blockSchema } from '../block-schemas.ts';
import { rawOrJson } from '../content-negotiation.ts';

export const blockRoutes = {
  readBlock: {
    method: 'GET',
    path: '/api/core/v2/blocks/:blockId',
    keep: 'id',
    limit: 'fetchLimit',
    handle: async (context) => answerBytes(context, await readNamedBlock(context)),
  },
  readBlockMetadata: {
    method: 'GET',
    path: '/api/core/v2/blocks/:blockId/metadata',
    keep: 'index',
    limit: 'fetchLimit',
    handle: async (context) => answerMetadata(context, await readNamedBlock(context)),
  },
  readIncludedBlock: {
    method: 'GET',
    path: '/api/core/v2/transactions/:transactionId/included-block',
    keep: 'index',
    handle: async (context) => answerBytes(context, await readIncluded(context)),
  },
  readIncludedBlockMetadata: {
    method: 'GET',
    path: '/api/core/v2/transactions/:transactionId/included-block/metadata',
    keep: 'index',
    handle: async (context) => answerMetadata(context, await readIncluded(context)),
  },
} satisfies RouteTable;

async function readNamedBlock({ request, params, node }: RouteContext): Promise<StoredBlock> {
  const blockId = parseId(Id, params.blockId, 'the block ID');
  const stored = await readBlock(node.session(), blockId);
  if (stored) return stored;
  // what this node says of references needs no upstream
  const unstored =
    stored === undefined ? await node.readUnstored(blockId, clientKeyOf(request)) : undefined;
  if (unstored === undefined) throw new UnknownHere('no such block, or its bytes are pruned');
  return unstored;
}

async function readIncluded({ params, node }: RouteContext): Promise<StoredBlock> {
  const transactionId = parseId(Id, params.transactionId, 'the transaction ID');
  const found = await readIncludedBlock(node.session(), transactionId);
  if (found === undefined)
    throw new UnknownHere('no such transaction was applied here, or it is pruned');
  return found;
}

function answerBytes(context: RouteContext, found: StoredBlock): Answer {
  const { bytes } = found;
  return rawOrJson(context, bytes, () => blockToJson(decode(block, bytes)), freshnessOf(found));
}

async function answerMetadata({ settings }: RouteContext, found: StoredBlock): Promise<Answer> {
  const { blockId, bytes, referenced } = found;
  const value = decode(block, bytes);
  const result = value.payload?.type === 7 ? parseBlock(bytes) : undefined;
  const milestoneIndex = result?.ok
    ? await milestoneIndexOf(result.parsed, settings.milestoneKeys)
    : undefined;
  const metadata = {
    blockId: `0x${blockId}`,
    parents: value.parents.map(toHex),
    // here, or at the upstream that calls it unreferenced
    isSolid: true,
    ...(referenced && { referencedByMilestoneIndex: referenced.index }),
    ...(milestoneIndex !== undefined && { milestoneIndex }),
    ...(referenced && {
      ...inclusionStateToJson(referenced.reason),
      whiteFlagIndex: referenced.whiteFlagIndex,
    }),
  };
  // a conflict's reason follows from outputs that a snapshot brought, and keys may be set later
  const mayChange = referenced?.reason || (result !== undefined && milestoneIndex === undefined);
  const keep = referenced && mayChange ? { keep: 'import' as const } : {};
  return jsonAnswer(metadata, { ...freshnessOf(found), ...keep });
}

/** A block that no milestone references yet may be dropped, and its metadata will change. */
function freshnessOf({
  ledgerIndex,
  referenced,
}: StoredBlock): Pick<Answer, 'keep' | 'ledgerIndex'> {
  return { ledgerIndex, ...(referenced === undefined && { keep: 'none' }) };
}

export const ledgerInclusionStateSchema = /* @__PURE__ */ json.named('LedgerInclusionState', () =>
  json.described(
    'Of a referenced block: whether it has a transaction, and whether that was applied.',
    json.choiceOf('noTransaction', 'included', 'conflicting'),
  ),
);

export const conflictReasonSchema = /* @__PURE__ */ json.named('ConflictReason', () => ({
  type: 'integer',
  minimum: 1,
  maximum: 12,
  description: describeReasons(),
}));

function describeReasons(): string {
  const reasons = Object.values(ConflictReason).filter((reason) => reason !== 0);
  return `${reasons.map((reason) => `${reason}: ${describeReason(reason)}`).join('; ')}.`;
}

export function describeBlocks(): Operations<typeof blockRoutes> {
  const metadata = json.namedObject(
    'BlockMetadata',
    {
      blockId: json.hashSchema,
      parents: json.arrayOf(json.hashSchema),
      isSolid: json.flagSchema,
    },
    {
      referencedByMilestoneIndex: json.milestoneIndexSchema,
      milestoneIndex: json.described(
        'Of the signed milestone that it carries.',
        json.milestoneIndexSchema,
      ),
      ledgerInclusionState: ledgerInclusionStateSchema,
      conflictReason: conflictReasonSchema,
      whiteFlagIndex: json.described('Its place in the white-flag order.', json.uint32Schema),
    },
  );
  const byBlock = inPath('blockId', Id, 'Block ID, 32 bytes.');
  const byTransaction = inPath('transactionId', Id, 'Transaction ID, 32 bytes.');
  const whole = { description: 'The block.', schema: blockSchema, raw: true } as const;
  const fate = { description: 'The metadata.', schema: metadata };
  const path =
    '/api/core/v2/blocks/0xf2174f3af8c862ba7b099c9ce56ecb5146c200521a8dbba9b0389ae645b10f1d';
  const includedPath =
    '/api/core/v2/transactions/0xd7fcbc49ec07037f48526f1f3ed464536c32ff1afdf545d5d61e88db029db759/included-block';
  return {
    readBlock: coreRead('A block', path, byBlock, whole),
    readBlockMetadata: coreRead('What became of a block', `${path}/metadata`, byBlock, fate),
    readIncludedBlock: coreRead(
      'The block whose transaction was applied',
      includedPath,
      byTransaction,
      whole,
    ),
    readIncludedBlockMetadata: coreRead(
      'What became of the block whose transaction was applied',
      `${includedPath}/metadata`,
      byTransaction,
      fate,
    ),
  };
}
