/** GET /api/core/v2/tips (TIP-25; docs/contract.md#tips): blocks that no other block approves. */
import { type Answer, jsonAnswer } from '../../../http/answer.ts';
import { noLedger } from '../../../http/ledger-answer.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import type { Operations } from '../../../http/openapi/operation.ts';
import type { RouteContext, RouteTable } from '../../../http/route.ts';
import { readTips } from '../tips.ts';

export const tipsRoutes = {
  listTips: { method: 'GET', path: '/api/core/v2/tips', handle: answerTips },
} satisfies RouteTable;

async function answerTips({ node }: RouteContext): Promise<Answer> {
  const tips = await readTips(node.session());
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
        schema: json.named(
          'Tips',
          json.objectOf({ tips: json.arrayOf(json.hashSchema, { maxItems: 8 }) }),
        ),
        ledgerIndex: 'named',
      },
      example: { path: '/api/core/v2/tips' },
    },
  };
}
