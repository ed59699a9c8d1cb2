/** What changes of NFTs cost, as D1 counts rows: no more than bench/tools/stranger.ts reckons. */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { insertHead, insertMilestone } from '../../../src/ledger/core/write-head.ts';
import { readNftChanges } from '../../../src/modules/histories/nft-changes.ts';
import { countedDatabase } from '../../support/ledger/counted-database.ts';
import { testHead, testMilestone } from '../../support/ledger/test-head.ts';

const MOST = 400;
const LAST = 2 * MOST;

/** Milestone i changes NFT i alone: no change takes more rows. */
const FILL = [
  "INSERT INTO nft_change (milestone, part, nfts) SELECT idx, 0, json_array(printf('%064x', idx)) FROM milestone",
  "INSERT INTO nft (id, output, changed) SELECT printf('%064x', idx), printf('%068x', idx), idx FROM milestone",
  "INSERT INTO output (id, bytes, chain, block, created, created_time, sum) SELECT printf('%068x', idx), '', printf('%064x', idx), '', 0, 0, 0 FROM milestone",
];

it('eleven rows of each change, up to as many as an answer takes', async () => {
  const milestones = Array.from({ length: LAST + 1 }, (_, index) =>
    insertMilestone(env.LEDGER, { ...testMilestone(index, 0), nftChanges: index }),
  );
  await env.LEDGER.batch([insertHead(env.LEDGER, testHead('g', 0, LAST)), ...milestones]);
  for (const sql of FILL) await env.LEDGER.exec(sql);
  const { db, counts } = countedDatabase(env.LEDGER);
  for (const [after, to] of [
    [1, MOST + 1],
    [LAST - MOST, LAST],
    [LAST - 1, LAST],
  ] as const) {
    counts.rowsRead = 0;
    const found = await readNftChanges(db, after, MOST);
    expect(found).toMatchObject({ ok: true, to, changes: { length: to - after } });
    expect(counts.rowsRead).toBeGreaterThan(5 * (to - after));
    expect(counts.rowsRead).toBeLessThan(11 * (to - after) + 20);
  }
  counts.rowsRead = 0;
  expect(await readNftChanges(db, LAST + 1)).toMatchObject({ why: 'not kept' });
  expect(counts.rowsRead).toBeLessThan(20);
});
