/**
 * GET /api/edge/v1/demo: how many NFTs the ledger has.
 */
import type { Answer } from '../../http/answer.ts';
import { atLedger, hashedObjectAnswer } from '../../http/ledger-answer.ts';
import { milestoneIndexSchema, namedObject, uint32Schema } from '../../http/openapi/json-schema.ts';
import type { Operations } from '../../http/openapi/operation.ts';
import type { RouteContext, RouteTable } from '../../http/route.ts';
import type { Database } from '../../ledger/core/database.ts';
import { selectHead } from '../../ledger/core/head.ts';
import { one, readBatch } from '../../ledger/core/read-batch.ts';
import type { Module } from '../module.ts';

const routes = {
  readDemo: {
    method: 'GET',
    path: '/api/edge/v1/demo',
    keep: 'ledger',
    // reads a row of each NFT
    limit: 'scanLimit',
    handle: answerDemo,
  },
} satisfies RouteTable;

export const demo: Module = { name: 'demo', routes };

function answerDemo(context: RouteContext): Promise<Answer> {
  return atLedger(context, readDemo, (found) =>
    hashedObjectAnswer(context.request, found.ledgerIndex, found),
  );
}

/** A burned NFT has a row without an output. */
const COUNT_NFTS = 'SELECT count(output) AS n FROM nft';

/** Undefined where there is no ledger. */
async function readDemo(db: Database) {
  const { head, nftCount } = await readBatch(db, {
    head: selectHead(db),
    nftCount: one(db.prepare(COUNT_NFTS), (row) => row.integer('n')),
  });
  return head && { ledgerIndex: head.ledger, nftCount };
}

export const describeDemo = (): Operations<typeof routes> => ({
  readDemo: {
    tag: 'edge',
    summary: 'How many NFTs the ledger has',
    answer: {
      description: 'Their number.',
      schema: namedObject('Demo', { ledgerIndex: milestoneIndexSchema, nftCount: uint32Schema }),
      ledgerIndex: 'tagged',
    },
  },
});
