/** What the index counts on in its view of the ledger (src/nft-index/ports.ts), in a real D1. */
import { env } from 'cloudflare:workers';
import { beforeEach, expect, test } from 'vitest';
import { CHANGES_STEP } from '../../src/ledger/write/prune.ts';
import { openIndexLedger } from '../../src/nft-index/d1-ledger.ts';
import { openNftLedger } from '../../src/nft-index/nft-sources.ts';
import type { NftRow } from '../../src/nft-index/ports.ts';
import { beginState, endOf } from '../../src/nft-index/publisher-state.ts';
import { countedDatabase } from '../support/ledger/counted-database.ts';
import {
  nftId,
  openTestLedger,
  outputId,
  resetState,
} from '../support/nft-index/d1-test-ledger.ts';

const ledger = openTestLedger(env.LEDGER);
const nfts = openNftLedger(env.LEDGER);
const [A, B, C, D] = [nftId('a'), nftId('b'), nftId('c'), nftId('d')];
const at = (nft: string, output: string | null): NftRow => ({
  nft,
  output: output && outputId(output),
});

beforeEach(async () => {
  await resetState(env.LEDGER);
  await ledger.import('g', 100, [at(A, '1'), at(B, '2')]);
  await ledger.apply([at(C, '3'), at(A, '4')]);
  await ledger.apply([at(B, null)]);
  await ledger.apply([at(C, '5')]);
});

const swap = async (from: number, generation = 'g') => {
  const { stored } = await ledger.index.readState();
  return ledger.index.swap(stored?.token, {
    token: crypto.randomUUID(),
    state: beginState({ generation: generation, ledgerIndex: from }),
  });
};

test('where it stands', async () => {
  expect((await ledger.index.readState()).head).toMatchObject({
    generation: 'g',
    ledgerIndex: 103,
  });
});

test('the last change of each NFT, in order, page by page', async () => {
  const first = await ledger.index.readChanges(endOf(100), 103, 2);
  expect(first).toMatchObject({
    generation: 'g',
    ledgerIndex: 103,
    rows: [
      { milestone: 101, ...at(A, '4') },
      { milestone: 102, ...at(B, null) },
    ],
  });
  expect((await ledger.index.readChanges({ milestone: 102, nft: B }, 103, 2))?.rows).toEqual([
    { milestone: 103, ...at(C, '5') },
  ]);
  expect((await ledger.index.readChanges(endOf(103), 103, 2))?.rows).toEqual([]);
});

test('changes of a milestone are in order; none after the last milestone is read', async () => {
  await ledger.apply([at(D, '6'), at(A, '7'), at(B, '8')]);
  const ids = async (after: { milestone: number; nft: string }, upTo: number) =>
    (await ledger.index.readChanges(after, upTo, 10))?.rows.map(({ nft }) => nft);
  expect(await ids(endOf(102), 104)).toEqual([C, A, B, D]);
  expect(await ids({ milestone: 104, nft: A }, 104)).toEqual([B, D]);
  // with the states that they have now
  expect(await ids(endOf(100), 103)).toEqual([A, B, C]);
});

test('all NFTs, page by page', async () => {
  expect(await ledger.index.readNfts('', 2)).toMatchObject({
    generation: 'g',
    ledgerIndex: 103,
    rows: [at(A, '4'), at(B, null)],
  });
  expect((await ledger.index.readNfts(B, 2))?.rows).toEqual([at(C, '5')]);
});

test('the window: last changes first, and the prefixes of all', async () => {
  const window = (await ledger.index.readWindow(
    { generation: '', from: 100, token: undefined },
    2,
  ))!;
  expect(window).toMatchObject({
    generation: 'g',
    ledgerIndex: 103,
    rows: [at(C, '5'), at(B, null)],
  });
  expect(window.prefixes.match(/.{8}/g)?.sort()).toEqual(
    ['a', 'b', 'c'].map((digit) => digit.repeat(8)),
  );
  expect(window.token).toBe((await ledger.index.readState()).stored?.token);
  expect(
    await ledger.index.readWindow({ generation: '', from: 103, token: undefined }, 2),
  ).toMatchObject({
    rows: [],
    prefixes: '',
  });
});

test('the window takes a row for each change and milestone, and three for each state', async () => {
  const nfts = Array.from({ length: 900 }, (_, i) => nftId((i + 4096).toString(16)));
  for (let i = 0; i < 30; i++)
    await ledger.apply(nfts.slice(30 * i, 30 * i + 30).map((nft) => at(nft, nft.slice(0, 4))));
  const { db, counts } = countedDatabase(env.LEDGER);
  const asked = { generation: 'g', from: 103, token: undefined };
  const { rows } = (await openIndexLedger(db).readWindow(asked, 100))!;
  expect(rows.length).toBe(100);
  expect(counts.rowsRead).toBeGreaterThanOrEqual(900 + 30 + 300);
  expect(counts.rowsRead).toBeLessThanOrEqual(900 + 30 + 300 + 10);
});

test('a change is there whatever the row of its NFT says of when it was', async () => {
  await env.LEDGER.prepare('UPDATE nft SET changed = changed + 1').run();
  const { rows } = (await ledger.index.readChanges(endOf(100), 103, 9))!;
  expect(rows.map(({ nft }) => nft)).toEqual([A, B, C]);
  const asked = { generation: 'g', from: 100, token: undefined };
  expect((await ledger.index.readWindow(asked, 9))?.rows).toHaveLength(3);
});

test('the window is refused where damage made another NFT of one whose prefix it has', async () => {
  const token = (await ledger.index.readState()).stored?.token;
  const asked = { generation: 'g', from: 100, token };
  expect((await ledger.index.readWindow(asked, 2))?.prefixes).toContain(A.slice(0, 8));
  const flip = "UPDATE nft_change SET nfts = replace(nfts, ?1, 'b' || substr(?1, 2))";
  await env.LEDGER.prepare(flip).bind(A).run();
  await expect(ledger.index.readWindow(asked, 2)).rejects.toThrow('nft_change and nft');
});

test('one NFT', async () => {
  expect(await nfts.readNft(A, false)).toEqual({
    ledgerIndex: 103,
    output: outputId('4'),
  });
  expect(await nfts.readNft(B, true)).toEqual({ ledgerIndex: 103, output: null });
  expect(await nfts.readNft(D, true)).toEqual({ ledgerIndex: 103, output: null });
});

test('the state is swapped by whoever has seen the last one', async () => {
  const before = (await ledger.index.readState()).stored!;
  expect(before.state).toBeUndefined();
  const state = beginState({ generation: 'g', ledgerIndex: 100 });
  expect(await ledger.index.swap(before.token, { token: 'one', state })).toBe(true);
  expect(
    await ledger.index.swap(before.token, {
      token: 'two',
      state: beginState({ generation: 'g', ledgerIndex: 102 }),
    }),
  ).toBe(false);
  expect((await ledger.index.readState()).stored).toEqual({ token: 'one', state });
});

test('a state of another ledger is none', async () => {
  await swap(100);
  await ledger.import('other', 50, []);
  const { stored } = await ledger.index.readState();
  expect(stored?.state).toBeUndefined();
  expect(stored?.token).toMatch(/./);
});

test('a removed row is put anew, by one that knows it is', async () => {
  await swap(100);
  await ledger.removeState();
  expect((await ledger.index.readState()).stored).toBeUndefined();
  expect(
    (await ledger.index.readWindow({ generation: '', from: 100, token: undefined }, 1))?.token,
  ).toBeUndefined();
  const state = beginState({ generation: 'g', ledgerIndex: 100 });
  expect(await ledger.index.swap('of before', { token: 'none', state })).toBe(false);
  expect(await ledger.index.swap(undefined, { token: 'one', state })).toBe(true);
  expect(await ledger.index.swap(undefined, { token: 'two', state })).toBe(false);
  expect((await ledger.index.readState()).stored?.token).toBe('one');
});

test('what has left the window is pruned, and nothing else', async () => {
  await swap(102);
  expect(
    (await ledger.index.readWindow({ generation: '', from: 100, token: undefined }, 9))?.rows
      .length,
  ).toBe(3);
  await ledger.prune();
  expect(
    (await ledger.index.readWindow({ generation: '', from: 100, token: undefined }, 9))?.rows,
  ).toEqual([at(C, '5')]);
});

test('nothing is pruned without a state, nor with one of another ledger', async () => {
  await ledger.index.swap('not the token', {
    token: 'x',
    state: beginState({ generation: 'g', ledgerIndex: 103 }),
  });
  await ledger.prune();
  expect(
    (await ledger.index.readWindow({ generation: '', from: 100, token: undefined }, 9))?.rows
      .length,
  ).toBe(3);
  await swap(103, 'other');
  await ledger.prune();
  expect(
    (await ledger.index.readWindow({ generation: '', from: 100, token: undefined }, 9))?.rows
      .length,
  ).toBe(3);
});

test('a burned NFT is pruned when its change has left the window, and no other NFT', async () => {
  const swapAndPrune = async (...args: Parameters<typeof swap>) => {
    await swap(...args);
    await ledger.prune();
  };
  const ids = async () => (await ledger.index.readNfts('', 9))?.rows.map(({ nft }) => nft);
  await ledger.apply([at(D, null)]);
  await swapAndPrune(101);
  expect(await ids()).toEqual([A, B, C, D]);
  await swapAndPrune(102, 'other');
  expect(await ids()).toEqual([A, B, C, D]);
  await swapAndPrune(103);
  expect(await ids()).toEqual([A, C, D]);
  expect(await nfts.readNft(B, true)).toEqual({ ledgerIndex: 104, output: null });
  await swapAndPrune(104);
  expect(await ids()).toEqual([A, C]);
});

test('an NFT that was burned again after a change that leaves stays until then', async () => {
  await ledger.apply([at(A, null)]);
  await swap(103);
  await ledger.prune();
  expect((await ledger.index.readNfts('', 9))?.rows).toContainEqual(at(A, null));
  expect(
    (await ledger.index.readWindow({ generation: '', from: 103, token: undefined }, 9))?.rows,
  ).toEqual([at(A, null)]);
  await ledger.apply([at(A, '6')]);
  await swap(105);
  await ledger.prune();
  expect((await ledger.index.readNfts('', 9))?.rows).toContainEqual(at(A, '6'));
});

test('what has left is pruned in bounded steps, the oldest first', async () => {
  const burned = Array.from({ length: 2 * CHANGES_STEP }, (_, i) =>
    (i + 1).toString(16).padStart(64, '0'),
  );
  for (const nft of burned) await ledger.apply([{ nft, output: null }]);
  const left = async () =>
    (await ledger.index.readNfts('', 99))!.rows.filter(({ nft }) => burned.includes(nft));
  const end = 103 + burned.length;
  await swap(end);
  await ledger.prune();
  // three rows were there before
  expect((await left()).map(({ nft }) => nft)).toEqual(burned.slice(CHANGES_STEP - 3));
  await ledger.prune();
  await ledger.prune();
  expect(await left()).toEqual([]);
  expect(
    (await ledger.index.readWindow({ generation: '', from: 100, token: undefined }, 9))?.rows,
  ).toEqual([]);
});

test('an import leaves no changes of the ledger before', async () => {
  await ledger.import('other', 50, [at(A, '9')]);
  expect(
    await ledger.index.readWindow({ generation: '', from: 50, token: undefined }, 9),
  ).toMatchObject({
    generation: 'other',
    ledgerIndex: 50,
    rows: [],
  });
});

test('no ledger', async () => {
  await ledger.removeLedger();
  expect((await ledger.index.readState()).head).toBeUndefined();
  expect(await ledger.index.readChanges(endOf(100), 103, 2)).toBeUndefined();
  expect(await ledger.index.readNfts('', 2)).toBeUndefined();
  expect(
    await ledger.index.readWindow({ generation: '', from: 100, token: undefined }, 2),
  ).toBeUndefined();
  expect(await nfts.readNft(A, true)).toBeUndefined();
});
