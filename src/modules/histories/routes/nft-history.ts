/**
 * GET /api/edge/v1/nfts/:nftId/history: what became of an NFT, the newest change first
 * (docs/contract.md#history-of-an-nft).
 */
import type { Answer } from '../../../http/answer.ts';
import { HttpError } from '../../../http/errors.ts';
import { atLedger, hashedAnswer } from '../../../http/ledger-answer.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import { inPages, inPath, type Operations } from '../../../http/openapi/operation.ts';
import { Id, parseId, parseQueryString } from '../../../http/request.ts';
import { LEDGER_SCAN, type RouteContext, type RouteTable } from '../../../http/route.ts';
import { ownerSchema, ownerToJson } from '../../galleries/routes/nfts.ts';
import { readPageSize } from '../../lists/routes/parse-query.ts';
import {
  type HistoryPosition,
  MAX_HISTORY,
  type NftChange,
  readNftHistory,
} from '../nft-history.ts';

export const nftHistoryRoutes = {
  readNftHistory: {
    ...LEDGER_SCAN,
    path: '/api/edge/v1/nfts/:nftId/history',
    query: ['pageSize', 'cursor'],
    handle: answerNftHistory,
  },
} satisfies RouteTable;

async function answerNftHistory(context: RouteContext): Promise<Answer> {
  const { request, params } = context;
  const nftId = parseId(Id, params.nftId, 'the NFT ID');
  const { pageSize, from } = parsePage(new URL(request.url).search);
  return atLedger(
    context,
    (db) => readNftHistory(db, nftId, pageSize, from),
    (found) => {
      const { ledgerIndex } = found;
      if (!found.ok)
        throw new HttpError(
          404,
          found.why === 'unknown'
            ? `no NFT with this ID was known at ledger index ${ledgerIndex}, or it was burned before what is kept`
            : 'cursor: what is kept has not the output that it names',
        );
      const { since, complete, changes, next, prefix } = found;
      return hashedAnswer(request, {
        nftId: `0x${nftId}`,
        ledgerIndex,
        since,
        complete,
        changes: changes.map((change) => changeToJson(change, prefix)),
        ...(next && {
          cursor: `${next.spentIn.toString(16).padStart(8, '0')}${next.outputId}.${pageSize}`,
        }),
      });
    },
  );
}

/** Throws an HttpError 400. */
function parsePage(search: string): { pageSize: number; from: HistoryPosition | undefined } {
  const values = parseQueryString(search);
  const cursor = values.get('cursor');
  if (!cursor) return { pageSize: Math.min(readPageSize(values), MAX_HISTORY), from: undefined };
  const [, milestone, outputId, size] =
    /^([0-9a-fA-F]{8})([0-9a-fA-F]{68})\.(\d{1,4})$/.exec(cursor) ?? [];
  const pageSize = Math.min(Number(size), MAX_HISTORY);
  if (milestone === undefined || outputId === undefined || !(pageSize > 0))
    throw new HttpError(400, 'cursor: no cursor of a history');
  const spentIn = Number.parseInt(milestone, 16);
  return { pageSize, from: { spentIn, outputId: outputId.toLowerCase() } };
}

function changeToJson(
  { kind, index, timestamp, transactionId, blockId, held }: NftChange,
  prefix: string,
) {
  return {
    milestoneIndex: index,
    milestoneTimestamp: timestamp,
    transactionId: `0x${transactionId}`,
    blockId: `0x${blockId}`,
    outputId: held === undefined ? null : `0x${held.outputId}`,
    kind,
    owner: held === undefined ? null : ownerToJson(held, timestamp, prefix),
  };
}

export function describeNftHistory(): Operations<typeof nftHistoryRoutes> {
  const change = json.objectOf({
    milestoneIndex: json.milestoneIndexSchema,
    milestoneTimestamp: json.unixTimeSchema,
    transactionId: json.hashSchema,
    blockId: json.hashSchema,
    outputId: json.described(
      'What held the NFT from then on; null if it was burned.',
      json.orNull(json.outputIdSchema),
    ),
    kind: json.described(
      '`transferred`: the address of `owner` is another one than that of the change before. `changed`: it is the same.',
      json.choiceOf('minted', 'transferred', 'changed', 'burned'),
    ),
    owner: json.described(
      "Whose the output was at the milestone's time; null if the NFT was burned. An expiration that passes later is no change: `passesTo` says what follows from it.",
      json.orNull(ownerSchema),
    ),
  });
  return {
    readNftHistory: {
      tag: 'edge',
      summary: 'What became of an NFT, the newest change first',
      parameters: [
        inPath('nftId', Id, 'NFT ID, 32 bytes.'),
        ...inPages('changes', MAX_HISTORY, json.listCursorSchema),
      ],
      answer: {
        description: 'A page of the history.',
        schema: json.namedObject(
          'NFTHistory',
          {
            nftId: json.hashSchema,
            ledgerIndex: json.milestoneIndexSchema,
            since: json.described(
              'From this milestone on all changes are known. A mint before it is listed too where the output tells it.',
              json.milestoneIndexSchema,
            ),
            complete: json.described('Whether the last of `changes` is the mint.', json.flagSchema),
            changes: json.arrayOf(json.named('NFTHistoryChange', change)),
          },
          {
            cursor: json.described(
              'For the next page, which may be there although this one is not full; absent on the last one.',
              json.listCursorSchema,
            ),
          },
        ),
        ledgerIndex: 'tagged',
      },
      example:
        '/api/edge/v1/nfts/0x0255e84806dc0be4c149f11753a93fe2b6bd79a659649a0b238f8e2af1785aa7/history',
    },
  };
}
