/**
 * The explorer where a node has no ledger, nothing to check yet, or no answer, and while a ledger
 * moves on; and how much it loads, and how soon it is seen.
 */
import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { shorten } from '../../explorer/format.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { audit } from '../support/browser/audit.ts';
import {
  DRIVERS,
  type DrivenBrowser,
  type DrivenPage,
  SCREENS,
} from '../support/browser/driven-page.ts';
import {
  click,
  countOf,
  fill,
  open,
  overhangOf,
  readText,
  textOf,
  untilCount,
} from '../support/browser/use-page.ts';
import { listen } from '../support/edge/launch.ts';
import { madeFinalLedger } from '../support/final-ledger/made-ledger.ts';
import { startMqttBroker } from '../support/hornet-double/mqtt-broker.ts';
import { NodeState } from '../support/hornet-double/node-state.ts';
import { finalTruth } from '../support/lies/final-lies.ts';
import { type LyingNode, nodeAt, type Rule, startLyingNode } from '../support/lies/lying-node.ts';
import { inJson, type Json, withField, withHeaders, withStatus } from '../support/lies/rules.ts';
import { APPLIED_BLOCK, INFO, pathOfMetadata, TRANSACTION } from '../support/lies/sample-paths.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

const { url, nft, empty, fresh } = inject('sample');

/** Of the sample's newest milestone, Unix seconds. */
const MILESTONE_TIME = 1_664_385_901;

const UNKNOWN = `0x${'5a'.repeat(32)}`;

describe.each(DRIVERS)('in $name', ({ launch }) => {
  let page: DrivenPage;

  describe.each(SCREENS)('on a %s, in %s colours', (size, scheme) => {
    let browser: DrivenBrowser;

    beforeAll(async () => {
      browser = await launch({ scheme });
    });
    afterAll(() => browser?.close());

    async function expectSound(): Promise<void> {
      expect(await audit(page)).toEqual([]);
      expect(await overhangOf(page)).toBe(0);
      expect(page.faults).toEqual([]);
    }

    it('says so where there is no ledger', async () => {
      page = await browser.open(`${empty}/`, size);
      await textOf(page, 'main').toMatch(/No ledger to look into.*The node answered 500/);
      await expectSound();
      await page.close();
    });

    it('stays neutral where the ledger is fresh from a snapshot', async () => {
      page = await browser.open(`${fresh}/`, size);
      await textOf(page, '.home').toMatch(/its blocks are not here/);
      await open(page, '/milestone/17338');
      await textOf(page, 'main').toMatch(/There is nothing to check here yet/);
      expect(await countOf(page, '.bad, .good')).toBe(0);
      await expectSound();
      // by its ID, too, it is the first: an ID is no number
      const { status } = (await (await fetch(`${fresh}${INFO}`)).json()) as Json;
      const { milestoneId } = status.confirmedMilestone;
      await open(page, `/milestone/${milestoneId}`);
      await textOf(page, 'main h1').toBe(shorten(milestoneId));
      await textOf(page, 'main').toMatch(/There is nothing to check here yet/);
      expect(await readText(page, '.neighbours')).toBe('');
      await open(page, '/verify');
      await click(page, 'button', 'Verify');
      await textOf(page, '#verdict').toMatch(/nothing to check here yet/);
      expect(await countOf(page, '.bad, .good')).toBe(0);
      await open(page, '/proposal');
      await click(page, 'button', 'Propose milestone');
      await textOf(page, 'main').toMatch(/This node has no tips/);
      expect(await countOf(page, '.bad')).toBe(0);
      await expectSound();
      await page.close();
    });

    describe('while somebody looks', () => {
      let node: LyingNode;
      let asked: number;

      beforeEach(async () => {
        node = await startLyingNode(nodeAt(url));
        asked = 0;
        node.lie([counting]);
        page = await browser.open(`${node.url}/`, size, { isQuick: true });
      });
      afterEach(async () => {
        await page.close();
        await node[Symbol.asyncDispose]();
      });

      const isInfo: Rule['concerns'] = ({ path }) => path === INFO;
      /** Counts the readings of the ledger's state. */
      const counting: Rule = {
        concerns: isInfo,
        tell(request, next) {
          asked++;
          return next(request);
        },
      };

      /** Waits until the page has read the state of the ledger so many times more. */
      async function untilAsked(count: number): Promise<void> {
        const before = asked;
        await expect.poll(() => asked).toBeGreaterThanOrEqual(before + count);
      }

      it('tells how blocks come in, and when the node does not answer', async () => {
        await textOf(page, '#node-state').toMatch(/It has nothing of milestones before 17338\.$/);
        const tell = (headers: Record<string, string>) => node.lie([withHeaders(/./, headers)]);
        tell({ 'x-blocks-by': 'feed', 'x-newest-block-age': '2' });
        await textOf(page, '#node-state').toContain('Blocks come by feed, the newest 2 seconds');
        tell({ 'x-blocks-by': 'polling', 'x-newest-block-age': '75' });
        await textOf(page, '#node-state').toContain('by polling, the newest 1 minute ago.');
        tell({ 'x-blocks-by': 'polling' });
        await textOf(page, '#node-state').toMatch(/Blocks come by polling\.$/);
        // what was read stays on show
        // the connection is cut
        node.lie([{ concerns: isInfo, tell: () => Promise.reject(new Error('cut')) }]);
        await textOf(page, '#ledger-state').toBe(
          'shimmer · ledger 17339 · the node does not answer now',
        );
        expect(page.faults.filter((fault) => !/ERR_EMPTY_RESPONSE/.test(fault))).toEqual([]);
      });

      /** The newest milestone of the node, and its time, as it says from now on. */
      const say = (field: string, value: unknown) =>
        withField(INFO, `status.confirmedMilestone.${field}`, value);

      it('is live no longer when its ledger stands still', async () => {
        await textOf(page, '#ledger-state').toContain('17339');
        const passUntil = (seconds: number) =>
          page.evaluate(`void (Date.now = () => ${(MILESTONE_TIME + seconds) * 1000})`);
        await passUntil(5);
        node.lie([counting, withHeaders(INFO, { 'x-newest-block-age': '1' })]);
        await textOf(page, '#ledger-state').toMatch(
          /^shimmer · ledger 17339 · live · the ledger at milestone 17339 is \d+ seconds old$/,
        );
        // the node says the same as before
        await passUntil(300);
        await textOf(page, '#ledger-state').toContain('ledger 17339 · signed, but 5 minutes old');
      });

      it('says of a ledger ahead of the clock how far, unless it is live', async () => {
        await textOf(page, '#ledger-state').toContain('17339');
        const passUntil = (seconds: number) =>
          page.evaluate(`void (Date.now = () => ${(MILESTONE_TIME + seconds) * 1000})`);
        await passUntil(-3);
        // its bytes are not here: nobody signed it
        const healthy = withField(INFO, 'status.isHealthy', true);
        node.lie([healthy, say('index', 17_340)]);
        const said = 'shimmer · this node says: ledger 17340 ·';
        await textOf(page, '#ledger-state').toBe(`${said} 0 seconds old, healthy`);
        await passUntil(-7200);
        await textOf(page, '#ledger-state').toBe(`${said} 2 hours from now, healthy`);
      });

      it('shows no answer that comes behind that of a later question', async () => {
        await page.close();
        const held = Promise.withResolvers<void>();
        const numbered = (number: number, wait?: Promise<void>): Rule => ({
          concerns: isInfo,
          async tell(request, next) {
            asked++;
            const answer = await next(request);
            await wait;
            const headers = { 'x-blocks-by': 'feed', 'x-newest-block-age': `${number}` };
            return { ...answer, headers: { ...answer.headers, ...headers } };
          },
        });
        // what it asks at intervals it asks after five seconds
        page = await browser.open(`${node.url}/`, size);
        await textOf(page, '#node-state').toMatch(/before 17338\./);
        const ask = async (rule: Rule) => {
          node.lie([rule]);
          const before = asked;
          await page.evaluate(`void document.dispatchEvent(new Event('visibilitychange'))`);
          await expect.poll(() => asked).toBeGreaterThan(before);
        };
        await ask(numbered(7, held.promise));
        await ask(numbered(8));
        await textOf(page, '#node-state').toContain('the newest 8 seconds ago');
        held.resolve();
        await new Promise((resolve) => setTimeout(resolve, 1000));
        expect(await readText(page, '#node-state')).toContain('the newest 8 seconds ago');
      });

      it('says of an output what the node said when it was asked', async () => {
        await open(page, `/output/${TRANSACTION}0600`);
        const said = 'that it is unspent, and that its ledger is at 28 Sept 2022, 17:25:01 UTC.';
        await textOf(page, '.unlock .said-label').toContain(said);
        node.lie([counting, say('timestamp', MILESTONE_TIME + 600)]);
        await untilAsked(3);
        expect(await readText(page, '.unlock .said-label')).toContain(said);
      });

      it('reads a milestone again once it has come', async () => {
        await open(page, '/milestone/17340');
        await textOf(page, 'main').toMatch(/milestone 17340 has not come yet/);
        // its bytes are not here: what matters is that they are asked for
        node.lie([counting, say('index', 17_340)]);
        await textOf(page, 'main').toMatch(/There is nothing to check here yet/);
      });

      it('reads a block again until a milestone references it', async () => {
        const waiting = inJson(pathOfMetadata(APPLIED_BLOCK), (json) => {
          for (const field of [
            'referencedByMilestoneIndex',
            'ledgerInclusionState',
            'whiteFlagIndex',
          ])
            delete json[field];
        });
        node.lie([counting, waiting]);
        await open(page, `/block/${APPLIED_BLOCK}`);
        await textOf(page, '.outcome').toMatch(/^Waits: no milestone references it yet/);
        await textOf(page, '.flow-verdicts').toMatch(/to what the transaction commits to/);
        expect(await readText(page, '.flow')).not.toMatch(/changed nothing/);
        node.lie([counting, say('index', 17_340)]);
        await textOf(page, '.outcome').toMatch(/^Applied · .* milestone 17339$/);
        expect(await countOf(page, '.bad')).toBe(0);
      });

      it('says of a ledger that it could not read no more than that', async () => {
        await page.close();
        for (const [status, sentence] of [
          [429, /Node Not read Too many requests/],
          [500, /Node Not read The node answered 500/],
        ] as const) {
          node.lie([withStatus(INFO, status)]);
          page = await browser.open(`${node.url}/`, size);
          await textOf(page, 'main').toMatch(sentence);
          await page.close();
        }
        page = await browser.open(`${url}/`, size);
      });

      it('does not read on in the background, nor once the network has ended', async () => {
        await textOf(page, '#ledger-state').toContain('17339');
        const hide = (hidden: boolean) =>
          page.evaluate(`void Object.defineProperty(document, 'hidden',
            { configurable: true, value: ${hidden} })`);
        /** Waits until it has read nothing for ten times as long as it otherwise pauses. */
        const untilRest = async () => {
          for (let i = 0; i < 20; i++) {
            const before = asked;
            await new Promise((resolve) => setTimeout(resolve, 500));
            if (asked === before) return;
          }
          throw new Error('the page goes on reading');
        };
        await untilAsked(2);
        await hide(true);
        await untilRest();
        await hide(false);
        await untilAsked(2);
        node.lie([counting, withField(INFO, 'features', ['finalMilestone'])]);
        await textOf(page, '#ledger-state').toMatch(
          /signed, but \d+ years old · this node says final: the network ended here$/,
        );
        await untilRest();
      });

      it('reads when the node announces a milestone, and at intervals where it does not', async () => {
        const broker = await startMqttBroker(new NodeState(recordedNetwork('network-a'), 10));
        node.lie([counting], broker.upgrade);
        const announce = () =>
          broker.push({ topic: 'milestone-info/confirmed', payload: new Uint8Array(150) });
        await page.close();
        asked = 0;
        // while it hears of milestones it otherwise reads each minute, which does not pass
        page = await browser.open(`${node.url}/`, size, { holdsLimits: true });
        // at first, and for what the broker says on subscribing
        await expect.poll(() => asked).toBeGreaterThanOrEqual(2);
        for (let milestones = 0; milestones < 3; milestones++) {
          const before = asked;
          // nor does a clock that is set back hold it up
          if (milestones === 1)
            await page.evaluate('{ const { now } = Date; Date.now = () => now() - 3_600_000; }');
          await announce();
          await expect.poll(() => asked).toBeGreaterThan(before);
        }
        broker.running = false;
        broker.cut();
        const before = asked;
        await expect.poll(() => asked).toBeGreaterThan(before + 1);
        await broker.stop();
        expect(page.faults.filter((fault) => !/WebSocket/.test(fault))).toEqual([]);
      });

      it('checks what a final ledger has, against the root that the visitor gives', async () => {
        const made = await madeFinalLedger(150);
        const { keys, root } = made;
        node.lie(finalTruth(made));
        await page.reload();
        await open(page, '/verify');
        await untilCount(page, '#final-ledger', 1);
        const check = async (trusted: string, id: string) => {
          await fill(page, '#final-ledger input[name=root]', trusted);
          await fill(page, '#final-ledger input[name=id]', id);
          await click(page, '#final-ledger button', 'Check');
        };
        const nft = `0x${keys.nfts[3]}`;
        await check(toHex(root), nft);
        await textOf(page, '#final-verdict').toMatch(
          new RegExp(
            `150 outputs and 15 NFTs of made at milestone 10\\.\\s+NFT ${nft} is in the ledger`,
          ),
        );
        await expectSound();
        await check(toHex(root), UNKNOWN);
        await textOf(page, '#final-verdict').toMatch(`NFT ${UNKNOWN} is not in the ledger.`);
        await check(UNKNOWN, nft);
        await textOf(page, '#final-verdict').toMatch(/^False: .* The node has the final root 0x/);
        await check('0x12', nft);
        await textOf(page, '#final-verdict').toBe(
          'Not checked: The root must be 0x and 64 hex digits.',
        );
      });
    });
  });

  /** Milliseconds. */
  async function firstPaint(page: DrivenPage): Promise<number> {
    const read = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime`;
    await expect.poll(() => page.evaluate(read)).toBeGreaterThan(0);
    return Number(await page.evaluate(read));
  }

  it('is small and quick: 80 KB before a graph or the API, first paint within 300 ms', async () => {
    const plain = createServer((_, response) =>
      response.setHeader('content-type', 'text/html').end('<!doctype html>Nothing'),
    );
    const plainUrl = await listen(plain);
    const browser = await launch();
    const paints: Record<'ours' | 'plain', number> = { ours: Infinity, plain: Infinity };
    let names: string[] = [];
    // on a busy machine a page without anything is late, too, and any page once in a while
    const isQuick = () => paints.ours < Math.max(300, 10 * paints.plain);
    for (let i = 0; i < 10 && !isQuick(); i++) {
      page = await browser.open(plainUrl, 'desktop');
      paints.plain = Math.min(paints.plain, await firstPaint(page));
      await page.close();
      page = await browser.open(`${url}/#/nft/${nft.nftId}`, 'desktop');
      await textOf(page, '.claims .name').toBe('Soonanaut #2526');
      paints.ours = Math.min(paints.ours, await firstPaint(page));
      // what checks the newest milestone comes once the page is drawn
      await textOf(page, '#ledger-state').toMatch(/signed, but \d+ years old$/);
      names = (await page.evaluate(
        `performance.getEntriesByType('resource').map(({ name }) => name)`,
      )) as string[];
      await page.close();
    }
    await browser.close();
    plain.close();
    expect(isQuick(), JSON.stringify(paints)).toBe(true);
    const loaded = [`${url}/`, ...names.filter((name) => /\.(?:js|css|svg|png)$/.test(name))];
    expect(loaded.join()).toMatch(/app\.js.*\.css|\.css.*app\.js/);
    expect(loaded.join()).toMatch(/\/verifier-/);
    expect(names.join()).not.toMatch(/layout|openapi/);
    const sizes = await Promise.all([...new Set(loaded)].map(gzippedSize));
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(80_000);
  });
});

async function gzippedSize(url: string): Promise<number> {
  const { body } = await fetch(url);
  const bytes = await new Response(body!.pipeThrough(new CompressionStream('gzip'))).arrayBuffer();
  return bytes.byteLength;
}
