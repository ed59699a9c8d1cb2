/**
 * The search finds what the node knows: burned NFTs, transactions that failed or wait, addresses in
 * hex and pasted links; it asks all its questions at once, and shows the first answer.
 */
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { toBech32 } from '../../src/stardust/bech32.ts';
import { blake2b256 } from '../../src/stardust/crypto/hash.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { AddressType } from '../../src/stardust/wire/address.ts';
import { decodeBlock } from '../../src/stardust/wire/block.ts';
import { DRIVERS, type DrivenBrowser, type DrivenPage } from '../support/browser/driven-page.ts';
import { fragmentOf, open, readText, search, textOf } from '../support/browser/use-page.ts';
import { type LyingNode, nodeAt, type Rule, startLyingNode } from '../support/lies/lying-node.ts';
import { recordedSource } from '../support/lies/recorded-source.ts';
import { withField, withStatus } from '../support/lies/rules.ts';
import { ANY_BLOCK, INFO, ONE_NFT } from '../support/lies/sample-paths.ts';
import { lastIndex } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { basic, metadata, nft } from '../support/payloads/outputs.ts';

const { url } = inject('sample');

const UNKNOWN = `0x${'5a'.repeat(32)}`;

const network = recordedNetwork('network-k');
const failed = [...network.blocks.values()]
  .filter(({ referenced }) => referenced?.state === 'conflicting')
  .toSorted((a, b) => b.referenced!.index - a.referenced!.index)[0]!;
const FAILED_ID = toHex(decodeBlock(failed.bytes).transaction!.id);

/** A network in which an NFT was burned. */
function makeBurned() {
  const burned = new SyntheticNetwork({ seed: 'burned' });
  burned.milestone();
  const [spend] = burned.genesisSpends;
  const { amount } = spend!.coin.output;
  const name = metadata(new TextEncoder().encode(JSON.stringify({ name: 'gone' })));
  const minted = burned.transaction([spend!], [nft(spend!.by, { amount, immutable: [name] })]);
  burned.attachTransaction(minted);
  burned.milestone();
  const [coin] = minted.coins;
  const paid = burned.transaction([burned.spendOf(coin!)], [basic(spend!.by, { amount })]);
  burned.attachTransaction(paid);
  burned.milestone();
  return { burned, nftId: toHex(blake2b256(coin!.id)) };
}

describe.each(DRIVERS)('in $name', ({ launch }) => {
  let browser: DrivenBrowser;
  let page: DrivenPage;
  let node: LyingNode;

  beforeAll(async () => {
    browser = await launch({});
    node = await startLyingNode(nodeAt(url));
    page = await browser.open(`${node.url}/#/no/such/page`, 'desktop');
  });
  afterAll(async () => {
    await browser?.close();
    await node?.[Symbol.asyncDispose]();
  });
  afterEach(() => node.lie([]));

  /** Holds each answer about the ID until so many paths were asked. */
  function holdUntilAsked(count: number): Rule {
    const asked = new Set<string>();
    const all = Promise.withResolvers<void>();
    return {
      concerns: ({ path }) => path.includes(UNKNOWN) || path.includes('unlockableByAddress'),
      async tell(request, next) {
        asked.add(request.path);
        if (asked.size >= count) all.resolve();
        await all.promise;
        return next(request);
      },
    };
  }

  it('asks all its questions at once', async () => {
    // NFT, its history, block, transaction, milestone and address: no answer before all were asked
    node.lie([holdUntilAsked(6)]);
    await open(page, `/search?q=${UNKNOWN}`);
    await textOf(page, 'main').toMatch(
      /Not found.*An NFT: not here\. This would have found each NFT that an output holds.*A block: not here.*An address: not here.*A transaction that failed or waits: not here\. The page looked through the failed transactions of milestone 17339, and through those that wait below the tips that this node names\./,
    );
    // a node that lists NFTs alone does not know what else an address holds
    expect(await readText(page, 'main')).toMatch(/can also be an address: open the address$/);
  });

  it('has its scripts before the last answer, and milestones of the past at once', async () => {
    await using other = await startLyingNode(
      await recordedSource(network, lastIndex(network), nodeAt(url)),
    );
    const page = await browser.open(`${other.url}/#/no/such/page`, 'desktop');
    other.lie([holdUntilAsked(Infinity)]);
    await open(page, `/search?q=${UNKNOWN}`);
    const scripts = `performance.getEntriesByType('resource').map(({ name }) => name).join()`;
    await expect.poll(() => page.evaluate(scripts)).toMatch(/\/find-transaction-[\w-]+\.js/);
    await page.close();
    const asked = new Set<string>();
    const six = Promise.withResolvers<void>();
    other.lie([
      {
        concerns: ({ method, path }) => method === 'GET' && path.includes('/whiteflag/'),
        async tell(request, next) {
          asked.add(request.path);
          if (asked.size >= 6) six.resolve();
          await six.promise;
          return next(request);
        },
      },
    ]);
    const again = await browser.open(`${other.url}/search?q=${UNKNOWN}`, 'desktop');
    await textOf(again, 'main').toMatch(
      /Not found.*looked through the failed transactions of milestones \d+ to \d+/,
    );
    await again.close();
  });

  it('says no more than where it looked', async () => {
    node.lie([withField(INFO, 'features', ['finalMilestone'])]);
    const ended = await browser.open(`${node.url}/search?q=${UNKNOWN}`, 'desktop');
    await textOf(ended, 'main').toMatch(
      /Not found.*looked through the failed transactions of milestone 17339\. /,
    );
    await ended.close();
    await using other = await startLyingNode(
      await recordedSource(network, lastIndex(network), nodeAt(url)),
    );
    other.lie([withStatus(ANY_BLOCK, 500)]);
    const unread = await browser.open(`${other.url}/#/search?q=${FAILED_ID}`, 'desktop');
    await textOf(unread, 'main').toMatch(
      /Not answered.*A transaction that failed or waits: The bytes of block 0x/,
    );
    await unread.close();
  });

  it('asks again where it is told to search again', async () => {
    const { nft } = inject('sample');
    node.lie([withStatus(ONE_NFT, 500)]);
    await search(page, nft.nftId);
    await textOf(page, 'main').toMatch(/Not answered.*The node answered 500/);
    node.lie([]);
    await search(page, nft.nftId);
    await textOf(page, '.found-note').toBe('This is an NFT, this node says.');
  });

  it('shows the first thing that is there, while others are on their way', async () => {
    const { nft } = inject('sample');
    const never: Rule = {
      concerns: ({ path }) => path.includes('/blocks/') || path.includes('/milestones/0x'),
      hangs: true,
      tell: () => new Promise(() => {}),
    };
    node.lie([never]);
    await open(page, `/search?q=${nft.nftId}`);
    await textOf(page, '.found-note').toBe('This is an NFT, this node says.');
    expect(await fragmentOf(page)).toBe(`#/nft/${nft.nftId}`);
  });

  it('takes an address in hex, and links', async () => {
    const { nft } = inject('sample');
    const id = new Uint8Array(32).fill(7);
    await search(page, `0x00${toHex(id).slice(2)}`);
    const address = toBech32('smr', { type: AddressType.Ed25519, id });
    await expect.poll(() => fragmentOf(page)).toBe(`#/address/${address}`);
    await search(page, `https://explorer.iota.org/shimmer/nft/${nft.nftId}`);
    await expect.poll(() => fragmentOf(page)).toBe(`#/nft/${nft.nftId}`);
    expect(await readText(page, '#search-problem')).toBe('');
  });

  it('finds a failed transaction by the ID that wallets show', async () => {
    await using other = await startLyingNode(
      await recordedSource(network, lastIndex(network), nodeAt(url)),
    );
    const page = await browser.open(`${other.url}/#/search?q=${FAILED_ID}`, 'desktop');
    await textOf(page, '.found-note').toBe(
      'This is a transaction that was not applied, or too long ago, this node says.',
    );
    expect(await fragmentOf(page)).toBe(`#/transaction/${FAILED_ID}`);
    await textOf(page, 'main').toMatch(/onflict/);
    await page.close();
  });

  it('finds an NFT that was burned', async () => {
    const { burned, nftId } = makeBurned();
    await using other = await startLyingNode(
      await recordedSource(burned, lastIndex(burned), nodeAt(url)),
    );
    const page = await browser.open(`${other.url}/#/search?q=${nftId}`, 'desktop');
    await textOf(page, '.found-note').toBe('This is an NFT, this node says.');
    await textOf(page, 'main').toMatch(/NFT Burned .*milestone 3.*What became of it/);
    expect(await readText(page, 'main')).not.toMatch(/Not found/);
    await textOf(page, '.outcome').toMatch(/^Burned · .* milestone 3 · said by this node$/);
    const { keys, threshold } = burned.keys;
    const publicKeys = keys.map(({ publicKey }) => toHex(publicKey)).join();
    const choice = JSON.stringify({ publicKeys, threshold: String(threshold) });
    await page.evaluate(`localStorage.setItem('milestone-keys', ${JSON.stringify(choice)})`);
    await page.reload();
    await textOf(page, '.outcome [data-standing=proved]').toMatch(/^Burned · .* milestone 3$/);
    await page.close();
  });
});
