/** GET /api/core/v2/tips (TIP-25; docs/contract.md#tips): blocks that no other block approves. */
import { type Answer, jsonAnswer } from '../../answer.ts';
import { noLedger } from '../../ledger-answer.ts';
import { arrayOf, hashSchema, named, objectOf } from '../../openapi/json-schema.ts';
import type { Operations, RouteTable } from '../../openapi/operation.ts';
import type { RouteContext } from '../../route.ts';

export const tipsRoutes = {
  listTips: { method: 'GET', path: '/api/core/v2/tips', handle: answerTips },
} satisfies RouteTable;

async function answerTips({ node }: RouteContext): Promise<Answer> {
  const tips = await node.readTips();
  if (tips === undefined) throw noLedger();
  const { blockIds, ledgerIndex } = tips;
  return jsonAnswer({ tips: blockIds.map((id) => `0x${id}`) }, { ledgerIndex });
}

export function describeTips(): Operations<typeof tipsRoutes> {
  return {
    listTips: {
      tag: 'core',
      summary: 'Unreferenced blocks that no other block approves (TIP-25)',
      answer: {
        description: 'Up to eight block IDs.',
        schema: named('Tips', objectOf({ tips: arrayOf(hashSchema, { maxItems: 8 }) })),
        ledgerIndex: 'named',
      },
      example: { path: '/api/core/v2/tips' },
    },
  };
}
