/** Rows that a step of pruning reads, which D1 bills: there is one in each pass, so each second. */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { prune } from '../../../src/ledger/write/prune.ts';
import { countedDatabase } from '../../support/ledger/counted-database.ts';
import { startNew } from '../../support/ledger/ledger-harness.ts';

/** Of a day, as is kept by default: a step that looked at each would read 45 billion a month. */
const MILESTONES = 17_280;

/** Before those that are there. */
const INSERT_MILESTONES = `
  WITH RECURSIVE more (idx) AS (
    SELECT -1 UNION ALL SELECT idx - 1 FROM more WHERE idx > 2 - ${MILESTONES})
  INSERT INTO milestone (idx, id, timestamp, blocks, nft_changes, sum)
  SELECT idx, '', 0, 0, 0, 0 FROM more`;

it('are as many, however many milestones are kept', async () => {
  await startNew(env.LEDGER, 'prune cost');
  const { db, counts } = countedDatabase(env.LEDGER);
  await prune(db, MILESTONES);
  const few = counts.rowsRead;
  await env.LEDGER.prepare(INSERT_MILESTONES).run();
  await prune(db, MILESTONES);
  expect(counts.rowsRead - few).toBe(few);
});
