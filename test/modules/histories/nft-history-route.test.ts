/** GET /api/edge/v1/nfts/:nftId/history, from a ledger in memory that follows a made-up network. */
import { beforeAll, describe, expect, it } from 'vitest';
import { toBech32 } from '../../../src/stardust/bech32.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { nftIdOf } from '../../../src/stardust/wire/ids.ts';
import { checkRow, type Fetch } from '../../support/http/contract.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';
import { followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import type { Coin } from '../../support/network/transactions.ts';
import { nodeOver } from '../../support/nft-list/list-node.ts';
import { basic, expiration, nft } from '../../support/payloads/outputs.ts';

const PREFIX = 'tst';

/** A mints, sends to B for ten seconds, takes it back then, and burns it; each in a milestone. */
async function threeOwners() {
  const network = new SyntheticNetwork({ seed: 'a history' });
  const [a, b] = [network.account(0), network.account(1)];
  network.milestone();
  const steps: { coin: Coin; block: string; index: number; timestamp: number }[] = [];
  const step = (spent: Coin, output: Parameters<typeof network.transaction>[1][number]) => {
    const made = network.transaction([{ coin: spent, by: a }], [output]);
    const block = network.attachTransaction(made);
    const { index, timestamp } = network.milestone({ parents: [network.milestoneBlock!, block] });
    steps.push({ coin: made.coins[0]!, block, index, timestamp });
    return made.coins[0]!;
  };
  const [coin] = network.genesisCoins as [Coin];
  const { amount } = coin.output;
  const minted = step(coin, nft(a, { amount }));
  const nftId = nftIdOf(minted.output as Parameters<typeof nftIdOf>[0], minted.id);
  const expires = network.nextTimestamp + 5;
  const lent = nft(b, { nftId, amount });
  const returned = expiration(a, expires);
  const sent = step(minted, { ...lent, unlockConditions: [...lent.unlockConditions, returned] });
  const back = step(sent, nft(a, { nftId, amount }));
  step(back, basic(a, { amount }));
  const db = await openMemory();
  const last = network.nextIndex - 1;
  await followTo(await startLedger(db, network, 0), last);
  const fetch = fetchFrom({ node: nodeOver(db) });
  const names = { a: toBech32(PREFIX, a.address), b: toBech32(PREFIX, b.address) };
  return { fetch, steps, last, nftId: toHex(nftId), ...names, expires };
}

describe('an NFT that is minted, lent, taken back and burned', () => {
  let history: Awaited<ReturnType<typeof threeOwners>>;
  let fetch: Fetch;
  let path: string;
  beforeAll(async () => {
    history = await threeOwners();
    ({ fetch } = history);
    path = `/api/edge/v1/nfts/${history.nftId}/history`;
  });

  function changes() {
    const { steps, a, b, expires } = history;
    const kinds = ['minted', 'transferred', 'transferred', 'burned'];
    const owners = [
      { address: a, canUnlock: true },
      { address: b, canUnlock: true, passesTo: { address: a, unixTime: expires } },
      { address: a, canUnlock: true },
      null,
    ];
    return steps
      .map(({ coin, block, index, timestamp }, i) => ({
        milestoneIndex: index,
        milestoneTimestamp: timestamp,
        transactionId: toHex(coin.id.subarray(0, 32)),
        blockId: block,
        outputId: owners[i] === null ? null : toHex(coin.id),
        kind: kinds[i],
        owner: owners[i],
      }))
      .reverse();
  }

  it('each change, the newest first; an expiration that passes is none', async () => {
    const answer = await fetch(path);
    expect(await answer.json()).toEqual({
      nftId: history.nftId,
      ledgerIndex: history.last,
      since: 1,
      complete: true,
      changes: changes(),
    });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'x-ledger-index': String(history.last),
      'cache-control': 'public, max-age=5, stale-while-revalidate=10, stale-if-error=0',
      vary: 'x-min-ledger-index',
    });
  });

  it('304 by its tag', async () => {
    const etag = (await fetch(path)).headers.get('etag')!;
    const answer = await fetch(path, { headers: { 'if-none-match': etag } });
    expect([answer.status, await answer.text()]).toEqual([304, '']);
  });

  it('page by page: a cursor keeps its page size', async () => {
    const all: unknown[] = [];
    const sizes: number[] = [];
    let search = '?pageSize=3';
    for (;;) {
      const body = (await (await fetch(path + search)).json()) as {
        changes: unknown[];
        cursor?: string;
        complete: boolean;
      };
      all.push(...body.changes);
      sizes.push(body.changes.length);
      expect(body.complete).toBe(body.cursor === undefined);
      if (body.cursor === undefined) break;
      search = `?pageSize=1&cursor=${body.cursor.toUpperCase()}`;
    }
    expect([all, sizes]).toEqual([changes(), [3, 1]]);
  });

  it.each(['0', '101', '-1', 'x', ''])('page size %j means 100', async (size) => {
    expect((await (await fetch(`${path}?pageSize=${size}`)).json()) as object).toMatchObject({
      changes: changes(),
    });
  });

  it.each([
    'x',
    '00000001.3',
    `${'0'.repeat(76)}`,
    `${'0'.repeat(76)}.0`,
    `${'0'.repeat(76)}.99999`,
    `${'0'.repeat(75)}g.3`,
  ])('400 for the cursor %s', async (cursor) => {
    const headers = { 'x-error-detail': 'cursor: no cursor of a history' };
    await checkRow(fetch, { name: '', path: `${path}?cursor=${cursor}`, status: 400, headers });
  });

  it('400 for what is no ID', async () => {
    for (const id of ['0x12', history.nftId.slice(2), `${history.nftId}00`])
      await checkRow(fetch, { name: '', path: `/api/edge/v1/nfts/${id}/history`, status: 400 });
  });

  it('404 for an NFT that was never known, and where a cursor leads nowhere', async () => {
    const { last } = history;
    const unknown = `/api/edge/v1/nfts/0x${'cd'.repeat(32)}/history`;
    const headers = { 'x-ledger-index': String(last) };
    await checkRow(fetch, { name: '', path: unknown, status: 404, headers });
    const cursor = `?cursor=00000003${'0'.repeat(68)}.3`;
    const detail = 'cursor: what is kept has not the output that it names';
    const more = { ...headers, 'x-error-detail': detail };
    await checkRow(fetch, { name: '', path: path + cursor, status: 404, headers: more });
  });

  it('404 before the milestone that X-Min-Ledger-Index names', async () => {
    const init = { headers: { 'x-min-ledger-index': String(history.last + 1) } };
    await checkRow(fetch, { name: '', path, init, status: 404 });
  });
});
