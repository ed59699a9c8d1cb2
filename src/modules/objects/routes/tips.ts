/** GET /api/core/v2/tips (TIP-25; docs/contract.md#tips): blocks that no other block approves. */
import { type Answer, jsonAnswer } from '../../../http/answer.ts';
import { noLedger } from '../../../http/ledger-answer.ts';
import * as json from '../../../http/openapi/json-schema.ts';
import type { Operations } from '../../../http/openapi/operation.ts';
import type { RouteContext, RouteTable } from '../../../http/route.ts';
import type { Database } from '../../../ledger/core/database.ts';
import { selectHead } from '../../../ledger/core/head.ts';
import { readBatch } from '../../../ledger/core/read-batch.ts';
import { selectNewest } from '../../../ledger/packs/live-packs.ts';
import { readCone } from '../../../ledger/packs/record-cone.ts';

export const tipsRoutes = {
  listTips: { method: 'GET', path: '/api/core/v2/tips', handle: answerTips },
} satisfies RouteTable;

async function answerTips({ node }: RouteContext): Promise<Answer> {
  const tips = await readTips(node.session());
  if (tips === undefined) throw noLedger();
  const { blockIds, ledgerIndex } = tips;
  return jsonAnswer({ tips: blockIds.map((id) => `0x${id}`) }, { ledgerIndex });
}

export const describeTips = (): Operations<typeof tipsRoutes> => ({
  listTips: {
    tag: 'core',
    summary: 'Unreferenced blocks that no other block approves (TIP-25)',
    answer: {
      description: 'Up to eight block IDs.',
      schema: json.namedObject('Tips', { tips: json.arrayOf(json.hashSchema, { maxItems: 8 }) }),
      ledgerIndex: 'named',
    },
    example: '/api/core/v2/tips',
  },
});

/** Most tips, as a block has parents: clients take all of them. */
const MAX_TIPS = 8;

/** Packs that are searched, the newest ones: some 4,000 blocks. */
const MAX_PACKS = 16;

/** Returns IDs of 64 hex digits, the newest first; undefined where nothing was imported. */
export async function readTips(db: Database) {
  const { head, packs } = await readBatch(db, {
    head: selectHead(db),
    packs: selectNewest(db, MAX_PACKS),
  });
  if (head === undefined) return undefined;
  const approved = new Set<number>();
  const blockIds: string[] = [];
  // the newest first: a child has a greater number than its parents
  for (const { records, statuses, blocks } of packs) {
    const cone = readCone([records]);
    for (let at = cone.size - 1; at >= 0; at--) {
      const [number, id] = blocks[at]!;
      const isTip = statuses.milestoneAt(at) === 0 && !approved.has(number);
      if (isTip && blockIds.length < MAX_TIPS) blockIds.push(id);
      for (let parent = 0; parent < cone.parentCountAt(at); parent++)
        approved.add(cone.parentAt(at, parent));
    }
  }
  return { blockIds, ledgerIndex: head.ledger };
}
