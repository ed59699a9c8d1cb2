/**
 * Transactions and outputs of a recorded network that has each kind of output and each conflict
 * (network-k): sums, sentences, and what decided. What is expected is what the reference decided, and
 * what the bytes say.
 */
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { formatAmount } from '../../client/words/amounts.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { describeReason, rulesOf } from '../../src/stardust/semantics/verdict.ts';
import type { ParsedBlock } from '../../src/stardust/wire/block.ts';
import { decodeBlock } from '../../src/stardust/wire/block.ts';
import { consumedIds, decodeOutput, outputId } from '../../src/stardust/wire/ids.ts';
import { type Output, OutputType } from '../../src/stardust/wire/output.ts';
import { audit } from '../support/browser/audit.ts';
import {
  DRIVERS,
  type DrivenBrowser,
  type DrivenPage,
  SCREENS,
} from '../support/browser/driven-page.ts';
import { readShown } from '../support/browser/read-standing.ts';
import {
  click,
  countOf,
  open,
  overhangOf,
  readFocus,
  readText,
  textOf,
  untilCount,
  untilTitle,
} from '../support/browser/use-page.ts';
import { type LyingNode, nodeAt, startLyingNode } from '../support/lies/lying-node.ts';
import { recordedSource } from '../support/lies/recorded-source.ts';
import { inJson } from '../support/lies/rules.ts';
import { ANY_OUTPUT } from '../support/lies/sample-paths.ts';
import { lastIndex, type NetworkBlock } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { metadata, nft } from '../support/payloads/outputs.ts';

const { url } = inject('sample');

const network = recordedNetwork('network-k');
/** As a node writes amounts of a network that it does not know. */
const TOKEN = { decimals: 0, tickerSymbol: 'units' };

type Transaction = NonNullable<ParsedBlock['transaction']>;

const referenced = [...network.blocks.values()].filter(
  ({ referenced }) => referenced !== undefined,
);

/** One block for each conflict that the reference saw, the first. */
const CONFLICTS: readonly (readonly [number, NetworkBlock])[] = [
  ...new Map(
    referenced
      .toReversed()
      .filter((block) => block.referenced!.state === 'conflicting')
      .map((block) => [block.referenced!.conflict, block] as const),
  ),
].sort(([a], [b]) => a - b);

/** The first transaction that was applied and creates such an output. */
function findApplied(isSuch: (output: Output, all: readonly Output[]) => boolean): Transaction {
  for (const { bytes, referenced: place } of referenced) {
    if (place!.state !== 'included') continue;
    const { transaction } = decodeBlock(bytes);
    const { outputs } = transaction!.value.essence;
    if (outputs.some((output) => isSuch(output, outputs))) return transaction!;
  }
  throw new Error('no transaction has such an output');
}

const idOf = ({ id, value }: Transaction, isSuch: (output: Output) => boolean) =>
  toHex(outputId(id, value.essence.outputs.findIndex(isSuch)));

const MINT = findApplied(
  (output, all) =>
    output.type === OutputType.Foundry &&
    output.tokenScheme.minted > 0n &&
    all.some(({ nativeTokens }) => nativeTokens.length > 0),
);
const FULL = (output: Output) => output.unlockConditions.length === 4;

const MARKUP = '<img src="https://elsewhere.example/x.png" onerror="document.title = 1">';
const RTL = '\u202Eevil \u2067\u05E9\u05DC\u05D5\u05DD\u202E';

/** A network in which somebody writes whatever a page could stumble over. */
function makeHostile() {
  const hostile = new SyntheticNetwork({ seed: 'hostile' });
  hostile.milestone();
  const [spend] = hostile.genesisSpends;
  const bytes = (text: string) => new TextEncoder().encode(text);
  const name = metadata(bytes(JSON.stringify({ name: `${MARKUP}${RTL}` })));
  const { amount } = spend!.coin.output;
  const made = hostile.transaction([spend!], [nft(spend!.by, { amount, immutable: [name] })]);
  hostile.attachTransaction(made);
  const notes = [`${MARKUP}${RTL}${'W'.repeat(9000)}`, JSON.stringify({ [MARKUP]: RTL })].map(
    (text) => hostile.note(undefined, bytes(text)),
  );
  hostile.milestone();
  return { hostile, transactionId: toHex(made.id), output: toHex(made.coins[0]!.id), notes };
}

describe.each(DRIVERS)('in $name', ({ launch }) => {
  describe.each(SCREENS)('on a %s, in %s colours', (size, scheme) => {
    let browser: DrivenBrowser;
    let node: LyingNode;
    let page: DrivenPage;

    beforeAll(async () => {
      browser = await launch({ scheme });
      node = await startLyingNode(await recordedSource(network, lastIndex(network), nodeAt(url)));
      page = await browser.open(`${node.url}/#/no/such/page`, size);
      const { keys, threshold } = network.keys;
      const choice = {
        publicKeys: keys.map(({ publicKey }) => publicKey.toHex()).join(),
        threshold: String(threshold),
      };
      await page.evaluate(
        `localStorage.setItem('milestone-keys', ${JSON.stringify(JSON.stringify(choice))})`,
      );
      await page.reload();
    });
    afterAll(async () => {
      await browser?.close();
      await node?.[Symbol.asyncDispose]();
    });
    afterEach(async () => {
      expect(page.faults.splice(0)).toEqual([]);
      expect(await overhangOf(page)).toBe(0);
      node.lie([]);
    });

    /** Opens a view and waits until nothing is on its way. */
    async function show(fragment: string): Promise<void> {
      await open(page, '/no/such/page');
      await textOf(page, 'main h1').toBe('No such page');
      await open(page, fragment);
      await textOf(page, '.of-id').toMatch(/^0x/);
      await untilCount(page, '.flow, .unlock', 1);
      await untilCount(page, '.loading', 0);
    }

    it.each(CONFLICTS)('says what decided conflict %i', async (reason, block) => {
      await show(`/block/${block.id}`);
      const { transaction } = decodeBlock(block.bytes);
      const text = await readText(page, '.conflict');
      // what became of it stands at the top, in red
      expect(await readText(page, '.outcome.failed')).toMatch(
        new RegExp(`^Failed in this block: ${describeReason(reason as 4)} · .*milestone \\d+`),
      );
      expect(text).not.toMatch(/Conflict \d+:/);
      if (reason <= 3) {
        const states = consumedIds(transaction!.value.essence).map((id) =>
          network.outputs.get(toHex(id)),
        );
        const place = Number(/Input (\d+) decided/.exec(text)?.[1]) - 1;
        const decided = states[place];
        if (reason === 3) expect(decided).toBeUndefined();
        else expect(text).toContain(`milestone ${decided?.spent?.index} by transaction`);
      } else if (reason === 10) expect(text).toMatch(/not certain/);
      else {
        const { by } = await readShown(page);
        expect(by.proved.join('\n')).toContain(`${describeReason(reason as 4)}.`);
        const [, stage] = /Rule ([A-Z]\d?)/.exec(text) ?? [];
        // rules of chains (D.3) are those of S6
        expect(rulesOf(reason as 4)).toContain(/^[A-Z]\d$/.test(stage!) ? stage : 'S6');
        expect(text).toMatch(/(?:Input \d+|Output \d+|The transaction as a whole) decided/);
      }
      expect(await audit(page)).toEqual([]);
    });

    it('shows what goes in and what comes out, to the last base token', async () => {
      await show(`/transaction/${toHex(MINT.id)}`);
      const { inputs, outputs } = MINT.value.essence;
      const sum = (all: readonly { amount: bigint }[]) =>
        formatAmount(
          all.reduce((total, { amount }) => total + amount, 0n),
          TOKEN,
        );
      const consumed = consumedIds(MINT.value.essence).map((id) =>
        decodeOutput(network.outputs.get(toHex(id))!.bytes),
      );
      expect(sum(consumed)).toBe(sum(outputs));
      expect(
        await page.evaluate(`[...document.querySelectorAll('.total')].map((e) => e.innerText)`),
      ).toEqual([sum(consumed), sum(outputs)]);
      await page.evaluate(`document.querySelector('.sides button[aria-expanded]').focus()`);
      await page.keyboard.press('Enter');
      // the button is still there for whoever goes on by keyboard
      await expect.poll(() => readFocus(page)).toEqual({ label: 'Show the first 8', isSeen: true });
      expect(
        await page.evaluate(`[...document.querySelectorAll('.sides > section')]
          .map((side) => side.querySelectorAll('.card').length)`),
      ).toEqual([inputs.length, outputs.length]);
      await textOf(page, '.flow-verdicts').toMatch(/hash(es)? to what the transaction commits to/);
      await textOf(page, '.changes').toMatch(/Foundry 0x08.*units of at most.*minted/);
      expect(await audit(page)).toEqual([]);
    });

    it('does not call proved what the node changed of an input', async () => {
      node.lie([
        inJson(ANY_OUTPUT, ({ output }) => {
          output.amount = String(BigInt(output.amount) + 1n);
        }),
      ]);
      await show(`/transaction/${toHex(MINT.id)}`);
      const { by } = await readShown(page);
      expect(by.refuted.join()).toContain(
        'The inputs that this node shows are false: the outputs do not hash to the inputs commitment',
      );
      expect(await countOf(page, '.sides > section:first-child [data-standing=proved]')).toBe(0);
    });

    it('says where an input is not there any more', async () => {
      const [first] = consumedIds(MINT.value.essence);
      node.lie([
        {
          concerns: ({ path }) => path.endsWith(toHex(first!)),
          tell: async () => ({
            status: 404,
            headers: { 'content-type': 'application/json' },
            body: new TextEncoder().encode('{"error":{"code":404,"message":"no"}}'),
          }),
        },
      ]);
      await show(`/transaction/${toHex(MINT.id)}`);
      await textOf(page, '.card.absent').toMatch(/from tst1q.*pruned, or it never was/);
      await textOf(page, '.flow-verdicts').toMatch(/Not checked: The inputs, as /);
      await textOf(page, '.changes').toMatch(/Not checked: what ends here/);
    });

    it('shows what anybody wrote as text', async () => {
      const { hostile, transactionId, output, notes } = makeHostile();
      await using other = await startLyingNode(
        await recordedSource(hostile, lastIndex(hostile), nodeAt(url)),
      );
      const before = page;
      page = await browser.open(`${other.url}/#/no/such/page`, size);
      const text = () => page.evaluate(`document.querySelector('main').textContent`);
      await show(`/transaction/${transactionId}`);
      // names are cut
      expect(await text()).toContain(`NFT “${MARKUP.slice(0, 60)}…”`);
      expect(await audit(page)).toEqual([]);
      await show(`/output/${output}`);
      await expect.poll(text).toContain(MARKUP.replaceAll('"', '\\"'));
      expect(await audit(page)).toEqual([]);
      for (const note of notes) {
        await open(page, `/block/${note}`);
        await textOf(page, '.tagged').toMatch(/Data: .*img src/);
        expect(await text()).toContain(RTL);
        expect(await audit(page)).toEqual([]);
        expect(await overhangOf(page)).toBe(0);
      }
      expect(await countOf(page, 'img')).toBe(0);
      await untilTitle(page, /^Block 0x/);
      expect(page.faults).toEqual([]);
      await page.close();
      page = before;
    });

    it('shows a receipt, and migrated funds for what they are', async () => {
      const migrated = new SyntheticNetwork({ seed: 'migrated', treasury: 1_000_000_000n });
      const [spend] = migrated.genesisSpends;
      const fund = {
        tailTransactionHash: new Uint8Array(49).fill(1),
        address: spend!.by.address,
        deposit: 5_000_000n,
      };
      migrated.milestone({ migrate: [fund] });
      const [output] = [...migrated.outputs].find(([, { blockId }]) =>
        blockId.every((byte) => byte === 0),
      )!;
      migrated.milestone();
      await using other = await startLyingNode(
        await recordedSource(migrated, lastIndex(migrated), nodeAt(url)),
      );
      const before = page;
      const { index } = migrated.milestones[0]!;
      page = await browser.open(`${other.url}/milestone/${index}`, size);
      await textOf(page, '.receipt').toMatch(
        /^1 output of migrated funds, from milestone \d+ of the legacy network .* to tst1/,
      );
      // signed bytes have numbers: how they are written is the node's word
      const publicKeys = migrated.keys.keys.map(({ publicKey }) => publicKey.toHex()).join();
      const own = JSON.stringify({ publicKeys, threshold: `${migrated.keys.threshold}` });
      await page.evaluate(`localStorage.setItem('milestone-keys', ${JSON.stringify(own)})`);
      await page.reload();
      await textOf(page, '.receipt[data-standing=proved] [data-standing=said]').toMatch(
        /^This node says that its network has \S+ with \d+ decimals, and addresses that begin with tst/,
      );
      expect(await audit(page)).toEqual([]);
      await open(page, `/output/${output}`);
      await textOf(page, 'main').toMatch(
        /Created by no transaction: a receipt brought it with funds that were migrated from the legacy network, or the ledger began with it/,
      );
      // block 0x000…0 is none, and no transaction has such an ID
      expect(await countOf(page, `main a[href^="/block/"], main a[href^="/transaction/"]`)).toBe(0);
      expect(await readText(page, 'main')).not.toMatch(/in conflict, or older/);
      await page.close();
      page = before;
    });

    it('has its legend in line where there are conflicts', async () => {
      const [[, { referenced: place }]] = CONFLICTS as [(typeof CONFLICTS)[number]];
      await open(page, `/milestone/${place!.index}`);
      await untilCount(page, '.legend', 1);
      await untilCount(page, '.loading', 0);
      expect(await countOf(page, '.legend svg.conflict')).toBe(1);
      const margins = await page.evaluate(
        `[...new Set([...document.querySelectorAll('.legend svg, td svg')].map((each) =>
          getComputedStyle(each).marginTop))]`,
      );
      expect(margins).toEqual(['0px']);
    });

    it('shows an output of each kind in words', async () => {
      const full = findApplied(FULL);
      await show(`/output/${idOf(full, FULL)}`);
      await textOf(page, '.unlock').toMatch(
        /(?:Only|Nobody).* (?:can|could) spend it.*Spending it return/,
      );
      await textOf(page, '.proved').toMatch(/Storage deposit.*Timelock until.*Expiration at/);
      expect(await audit(page)).toEqual([]);
      await show(`/output/${idOf(MINT, ({ type }) => type === OutputType.Foundry)}`);
      await textOf(page, '.unlock').toMatch(/Only alias .* its tokens, change it or destroy it/);
      await textOf(page, '.proved').toMatch(/Supply .*units At most .*units/);
      await show(`/output/${idOf(MINT, ({ type }) => type === OutputType.Alias)}`);
      await textOf(page, '.unlock').toMatch(/its state controller.*its governor/);
      expect(await audit(page)).toEqual([]);
      await click(page, 'a', shortId(MINT.id));
      await textOf(page, '.kind').toBe('Transaction');
    });
  });
});

const shortId = (id: Uint8Array) => `${toHex(id).slice(0, 10)}…${toHex(id).slice(-6)}`;
