/**
 * Native tokens of a recorded network that has foundries (network-k): the list of all, the page of
 * each, and that of its alias, held against what the API answers.
 */
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { formatTokens, readTokenClaim } from '../../client/words/amounts.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { outputFromJson } from '../../src/stardust/json/rest-json.ts';
import { foundryId } from '../../src/stardust/wire/ids.ts';
import { type FoundryOutput, OutputType } from '../../src/stardust/wire/output.ts';
import { addressIn, UnlockConditionType } from '../../src/stardust/wire/unlock-condition.ts';
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
  factsOf,
  fragmentOf,
  open,
  overhangOf,
  readText,
  textOf,
  untilCount,
} from '../support/browser/use-page.ts';
import { type LyingNode, nodeAt, startLyingNode } from '../support/lies/lying-node.ts';
import { recordedSource } from '../support/lies/recorded-source.ts';
import { inJson, type Json } from '../support/lies/rules.ts';
import { lastIndex } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

const { url } = inject('sample');

const network = recordedNetwork('network-k');
const LIST = '/api/indexer/v1/outputs/foundry';

/** Rows of a page. */
const ROWS = 25;

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** What is read off a row of the list. */
function rowOf(foundry: FoundryOutput): RegExp {
  const { minted, melted, maximumSupply } = foundry.tokenScheme;
  const claim = readTokenClaim(foundry);
  const write = (amount: bigint) => escaped(formatTokens(amount, claim));
  const name = escaped(claim?.name ?? 'Token without a name');
  const shortened = (id: string) => `${id.slice(0, 10)}…${id.slice(-6)}`;
  const alias = toHex(addressIn(foundry, UnlockConditionType.ImmutableAlias).id);
  return new RegExp(
    `^${name} ${shortened(toHex(foundryId(foundry)))} ${write(minted - melted)} of at most ${write(maximumSupply)}, controlled by alias ${shortened(alias)}$`,
  );
}

describe.each(DRIVERS)('in $name', ({ launch }) => {
  describe.each(SCREENS)('on a %s, in %s colours', (size, scheme) => {
    let browser: DrivenBrowser;
    let node: LyingNode;
    let page: DrivenPage;
    /** All of the ledger's, the newest first. */
    let foundries: readonly FoundryOutput[];

    beforeAll(async () => {
      const honest = await recordedSource(network, lastIndex(network), nodeAt(url), true);
      node = await startLyingNode(honest);
      const read = async (path: string) => (await fetch(node.url + path)).json();
      const { items } = (await read(LIST)) as { items: string[] };
      const answers = await Promise.all(items.map((id) => read(`/api/core/v2/outputs/${id}`)));
      foundries = answers
        .map((answer) => outputFromJson((answer as { output: unknown }).output) as FoundryOutput)
        .toReversed();
      browser = await launch({ scheme });
      page = await browser.open(`${node.url}/tokens`, size);
    });
    afterAll(async () => {
      await browser?.close();
      await node?.[Symbol.asyncDispose]();
    });
    afterEach(async () => {
      node.lie([]);
      expect(page.faults.splice(0)).toEqual([]);
      expect(await overhangOf(page)).toBe(0);
    });

    it('lists each foundry, page by page, with its supply and who controls it', async () => {
      expect(foundries.length).toBeGreaterThan(1);
      for (let from = 0; from < foundries.length; from += ROWS) {
        await open(page, `/tokens${from === 0 ? '' : `?page=${from / ROWS + 1}`}`);
        const rows = foundries.slice(from, from + ROWS);
        await textOf(page, '.tokens li').toMatch(rowOf(rows[0]!));
        const shown = (await page.evaluate(
          `[...document.querySelectorAll('.tokens li')].map((each) =>
            each.innerText.trim().replaceAll(/\\s+/g, ' '))`,
        )) as string[];
        expect(shown.length).toBe(rows.length);
        for (const [i, foundry] of rows.entries()) expect(shown[i]).toMatch(rowOf(foundry));
        expect(await audit(page)).toEqual([]);
      }
      await textOf(page, '.said .hint').toMatch(
        new RegExp(`^${foundries.length} foundries at ledger index ${lastIndex(network)}\\.`),
      );
      expect(await countOf(page, '.page [data-standing=proved], .page .good')).toBe(0);
    });

    it('leads to what a token is, who controls it, and back to all of the alias', async () => {
      const [newest] = foundries;
      await open(page, '/no/such/page');
      await textOf(page, 'main h1').toBe('No such page');
      await open(page, '/tokens');
      await textOf(page, '.tokens li').toMatch(rowOf(newest!));
      await click(page, '.tokens .what a');
      await textOf(page, '.of-id').toMatch(/^0x08/);
      expect(await fragmentOf(page)).toBe(`#/foundry/${toHex(foundryId(newest!))}`);
      const { minted, melted, maximumSupply } = newest!.tokenScheme;
      const write = (amount: bigint) => formatTokens(amount, readTokenClaim(newest!));
      await factsOf(page).toMatchObject({
        Supply: write(minted - melted),
        Minted: write(minted),
        'At most': expect.stringContaining(write(maximumSupply)),
        'Controlled by': expect.stringMatching(/^alias 0x.* its state controller mints and melts$/),
      });
      expect(await audit(page)).toEqual([]);
      await click(page, '.facts a[href^="/alias/"]');
      await textOf(page, '.kind').toBe('Alias');
      const own = foundries.filter((each) => aliasOf(each) === aliasOf(newest!));
      await untilCount(page, '.tokens li', own.length);
      await textOf(page, '.tokens li').toMatch(rowOf(newest!));
      expect(await audit(page)).toEqual([]);
    });

    it('does not leave out what the node lists and is no foundry', async () => {
      const basic = [...network.outputs].find(([, { bytes, spent }]) => {
        return spent === undefined && bytes[0] === OutputType.Basic;
      })!;
      const change = ({ items }: Json) => void items.splice(-1, 1, basic[0]);
      node.lie([inJson(/\/outputs\/foundry\?$/, change)]);
      await open(page, '/no/such/page');
      await textOf(page, 'main h1').toBe('No such page');
      await open(page, '/tokens');
      await textOf(page, 'main').toMatch(/The node lists an output as a foundry that is none\./);
      expect(await readText(page, '.tokens')).toBe('');
    });
  });
});

const aliasOf = (foundry: FoundryOutput) =>
  toHex(addressIn(foundry, UnlockConditionType.ImmutableAlias).id);
