/**
 * GET /api/edge/v1/changes/nfts: NFTs that changed after a milestone, for clients that were away
 * (docs/contract.md#changes-of-nfts, docs/developers.md#events).
 */
import type { Answer } from '../../../http/answer.ts';
import { HttpError } from '../../../http/errors.ts';
import { atLedgerIndex, hashedAnswer, readMinLedgerIndex } from '../../../http/ledger-answer.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import { inQuery, type Operations } from '../../../http/openapi/operation.ts';
import { parseMilestoneIndex, parseQueryString } from '../../../http/request.ts';
import { LEDGER_SCAN, type RouteContext, type RouteTable } from '../../../http/route.ts';
import { MAX_CHANGES, readNftChanges } from '../nft-changes.ts';

const PATH = '/api/edge/v1/changes/nfts';

/** Named in the URL for every cache: all followers send the same URL, once a milestone. */
const MIN_PARAMETER = 'minLedgerIndex';

export const nftChangeRoutes = {
  readNftChanges: {
    ...LEDGER_SCAN,
    path: PATH,
    query: ['after', MIN_PARAMETER],
    handle: answerNftChanges,
  },
} satisfies RouteTable;

async function answerNftChanges({ request, node }: RouteContext): Promise<Answer> {
  const query = parseQueryString(new URL(request.url).search);
  const from = parseMilestoneIndex(query.get('after'), 'after');
  const named = query.get(MIN_PARAMETER);
  const minLedgerIndex = Math.max(
    from,
    readMinLedgerIndex(request),
    named === undefined ? 0 : parseMilestoneIndex(named, MIN_PARAMETER),
  );
  return atLedgerIndex(
    minLedgerIndex,
    () => readNftChanges(node.session(minLedgerIndex), from),
    (found) => {
      if (!found.ok)
        throw new HttpError(
          404,
          found.why === 'not kept'
            ? `changes after milestone ${from} are not kept: list the NFTs again`
            : `more than ${MAX_CHANGES} NFTs changed in the next milestone with changes: list the NFTs again`,
        );
      const { ledgerIndex, to } = found;
      const changes = found.changes.map(([nftId, outputId]) => ({
        nftId: `0x${nftId}`,
        outputId: outputId && `0x${outputId}`,
      }));
      return hashedAnswer(request, { from, to, ledgerIndex, changes });
    },
  );
}

export const describeNftChanges = (): Operations<typeof nftChangeRoutes> => ({
  readNftChanges: {
    tag: 'edge',
    summary: 'The NFTs that changed after a milestone, with their outputs now',
    description: `404 where changes after that milestone are not kept, or one milestone has more than ${MAX_CHANGES}: list the NFTs again.`,
    parameters: [
      {
        ...inQuery('after', json.uint32Schema, 'The last milestone whose changes the client has.'),
        required: true,
      },
      inQuery(
        MIN_PARAMETER,
        json.uint32Schema,
        'Asks for an answer at this ledger index or later. Caches may keep it.',
      ),
    ],
    answer: {
      description: 'Each NFT that changed, once.',
      schema: json.namedObject('NFTChanges', {
        from: json.described('`after`.', json.milestoneIndexSchema),
        to: json.described(
          'Changes up to this milestone are here. Below `ledgerIndex` where there are more: ask again with `after` set to it.',
          json.milestoneIndexSchema,
        ),
        ledgerIndex: json.milestoneIndexSchema,
        changes: json.described(
          'By NFT ID.',
          json.arrayOf(
            json.objectOf({
              nftId: json.hashSchema,
              outputId: json.described(
                'The unspent output at `ledgerIndex`; null if the NFT was burned.',
                json.orNull(json.outputIdSchema),
              ),
            }),
          ),
        ),
      }),
      ledgerIndex: 'tagged',
    },
    example: `${PATH}?after=17338`,
  },
});
