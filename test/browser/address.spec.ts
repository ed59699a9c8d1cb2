/**
 * The page of an address that has outputs of every tenure, and those of its alias and its foundry:
 * made-up outputs in the place of what an honest node answers.
 */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { addUp } from '../../client/balance.ts';
import { formatAmount } from '../../client/words/amounts.ts';
import { toBech32 } from '../../src/stardust/bech32.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { outputToJson } from '../../src/stardust/json/rest-json.ts';
import { type Address, AddressType } from '../../src/stardust/wire/address.ts';
import { foundryId } from '../../src/stardust/wire/ids.ts';
import { type NftOutput, type Output, OutputType } from '../../src/stardust/wire/output.ts';
import { audit } from '../support/browser/audit.ts';
import {
  DRIVERS,
  type DrivenBrowser,
  type DrivenPage,
  SCREENS,
} from '../support/browser/driven-page.ts';
import { expectPicture } from '../support/browser/expected-picture.ts';
import { readQrCode } from '../support/browser/read-qr-code.ts';
import {
  click,
  countOf,
  factsOf,
  fragmentOf,
  open,
  overhangOf,
  readText,
  search,
  textOf,
  unfold,
  untilCount,
} from '../support/browser/use-page.ts';
import { type LyingNode, nodeAt, type Rule, startLyingNode } from '../support/lies/lying-node.ts';
import { always } from '../support/lies/rules.ts';
import {
  alias,
  basic,
  depositReturn,
  expiration,
  foundry,
  idOf,
  issuer,
  metadata,
  nft,
  timelock,
  tokens,
} from '../support/payloads/outputs.ts';

const { indexed } = inject('sample');

/** Of milestone 17339. */
const NOW = 1_664_385_901;
const DAY = 86_400;
const LEDGER_INDEX = 17_339;
const PAGE = 25;
/** Of a page of a list. */
const MOST_ITEMS = 1000;

const us: Address = { type: AddressType.Ed25519, id: idOf('us') };
const others: Address = { type: AddressType.Ed25519, id: idOf('others') };
const ADDRESS = toBech32('smr', us);
const OTHERS = toBech32('smr', others);
const ALIAS = idOf('our alias');

const toBytes = (text: string) => new TextEncoder().encode(text);
const HOSTILE = '<img src=x onerror=alert(1)>\u202egnp.exe';

const irc30 = metadata(
  toBytes(
    JSON.stringify({ standard: 'IRC30', name: 'Token of ours', symbol: 'OURS', decimals: 2 }),
  ),
);
const irc27 = (name: string) =>
  metadata(toBytes(JSON.stringify({ standard: 'IRC27', version: 'v1.0', name })));

const outputs: readonly Output[] = [
  ...Array.from({ length: 50 }, (_, i) => basic(us, { amount: BigInt(i + 1) * 1_000_000n })),
  alias(us, us, { aliasId: ALIAS, stateIndex: 7, foundryCounter: 1, immutable: [issuer(us)] }),
  nft(us, { nftId: idOf('plain nft'), immutable: [irc27('A plain one')] }),
  nft(us, { nftId: idOf('hostile nft'), immutable: [irc27(HOSTILE)] }),
  basic(us, { amount: 9_000_000n, tokens: [tokens(ALIAS, 123_456n)] }),
  basic(us, { amount: 40_000_000n, conditions: [timelock(NOW + 300 * DAY)] }),
  basic(us, {
    amount: 20_000_000n,
    tokens: [tokens(ALIAS, 700n)],
    conditions: [timelock(NOW + 30 * DAY)],
  }),
  basic(us, { amount: 15_000_000n, conditions: [expiration(others, NOW + DAY)] }),
  basic(others, { amount: 30_000_000n, conditions: [expiration(us, NOW + 2 * DAY)] }),
  basic(others, { amount: 5_000_000n, conditions: [depositReturn(us, 50_600n)] }),
  basic(us, { amount: 6_000_000n, conditions: [depositReturn(others, 50_600n)] }),
];

const ours = foundry(ALIAS, {
  minted: 200_000n,
  melted: 1n,
  maximumSupply: 10n ** 9n,
  immutable: [irc30],
});
const FOUNDRY = toHex(foundryId(ours));

/** By ID, the oldest first. */
const byId = new Map(
  [...outputs, ours].map((output, i) => [`0x${i.toString(16).padStart(64, '0')}0000`, output]),
);
const [listed, foundryOutputId] = [[...byId.keys()].slice(0, -1), [...byId.keys()].at(-1)!];

const list = (items: readonly string[]) => ({ ledgerIndex: LEDGER_INDEX, pageSize: 1000, items });

const answerOutput = (id: string, output: Output) => ({
  metadata: {
    blockId: toHex(idOf('block')),
    transactionId: id.slice(0, 66),
    outputIndex: 0,
    isSpent: false,
    milestoneIndexBooked: LEDGER_INDEX,
    milestoneTimestampBooked: NOW,
    ledgerIndex: LEDGER_INDEX,
  },
  output: outputToJson(output),
});

/** An output as a node answers it; null where it is spent. */
type OutputJson = Record<string, unknown> | null;

/**
 * What the node answers of the address, its alias and its foundry.
 *
 * @param answer in place of the truth about one output
 */
const truth = (
  ids: readonly string[] = listed,
  answer: (id: string) => OutputJson | undefined = () => undefined,
): readonly Rule[] => [
  always(/\/outputs\?unlockableByAddress=/, ({ path }) =>
    path.includes('cursor=')
      ? list(ids.slice(MOST_ITEMS))
      : {
          ...list(ids.slice(0, MOST_ITEMS)),
          ...(ids.length > MOST_ITEMS && { cursor: `${'0'.repeat(76)}.${MOST_ITEMS}` }),
        },
  ),
  always(/\/outputs\/nft\?unlockableByAddress=/, () => list(listed.slice(51, 53))),
  always(/\/outputs\/foundry\?aliasAddress=/, () => list([foundryOutputId])),
  always(`/api/indexer/v1/outputs/foundry/${FOUNDRY}`, () => list([foundryOutputId])),
  always(`/api/indexer/v1/outputs/alias/${toHex(ALIAS)}`, () => list([listed[50]!])),
  always(/\/api\/edge\/v1\/outputs\?ids=/, ({ path }) => ({
    ledgerIndex: LEDGER_INDEX,
    outputs: path
      .split('ids=')[1]!
      .split(',')
      .map((id) => {
        const told = answer(id);
        return told === undefined ? answerOutput(id, byId.get(id)!) : told;
      }),
  })),
  always(/\/api\/core\/v2\/outputs\/0x0{50}/, ({ path }) => {
    const id = path.split('/').at(-1)!;
    return answerOutput(id, byId.get(id)!);
  }),
];

const SMR = { decimals: 6, tickerSymbol: 'SMR' };
const amountOf = (amount: bigint) => formatAmount(amount, SMR);

const balance = addUp(
  [...byId].map(([outputId, output]) => ({ outputId, output })),
  {
    address: us,
    unixTime: NOW,
    rentStructure: { vByteCost: 100, vByteFactorData: 1, vByteFactorKey: 10 },
  },
);

describe.each(DRIVERS)('in $name', ({ name: browserName, launch }) => {
  describe.each(SCREENS)('on a %s, in %s colours', (size, scheme) => {
    let browser: DrivenBrowser;
    let node: LyingNode;
    let page: DrivenPage;

    beforeAll(async () => {
      browser = await launch({ scheme });
      node = await startLyingNode(nodeAt(indexed));
      node.lie(truth());
      page = await browser.open(`${node.url}/#/address/${ADDRESS}`, size);
    });
    afterAll(async () => {
      await browser?.close();
      await node?.[Symbol.asyncDispose]();
    });

    async function expectLook(picture?: string): Promise<void> {
      expect(await audit(page)).toEqual([]);
      expect(await overhangOf(page)).toBe(0);
      expect(page.faults).toEqual([]);
      // nothing of it is checked, and nothing says so
      expect(await countOf(page, '.page .good, .page [data-standing=proved]')).toBe(0);
      if (picture !== undefined && browserName === 'Chromium')
        await expectPicture(page, `${picture}-${size}`);
    }

    it('adds up what the address holds, part by part', async () => {
      await textOf(page, '.total').toBe(amountOf(balance.total));
      const parts = await readText(page, '.parts');
      const { available, deposit, locked, claimable, pending, returns } = balance;
      expect(parts).toBe(
        [
          `Available ${amountOf(available)} It can be spent at any time.`,
          `Held as deposit ${amountOf(deposit)} The least that 2 NFTs, 1 alias, 1 foundry and native tokens must hold.`,
          `Locked by time ${amountOf(locked)} In 2 outputs, the last one until 25 Jul 2023, 17:25:01 UTC.`,
          `To be claimed ${amountOf(claimable)} In 1 output that this address can claim, before 29 Sept 2022, 17:25:01 UTC.`,
          `Pending to others ${amountOf(pending)} In 1 output that others can claim first, or that this address would have for a time.`,
          `To be returned ${amountOf(returns)} Deposits in 1 output of others, due when it is spent.`,
        ].join(' '),
      );
      await textOf(page, '.balance').toMatch(
        /60 unspent outputs at ledger index 17339, judged at 28 Sept 2022, 17:25:01 UTC, \d+ years ago\./,
      );
      await textOf(page, '.tokens').toMatch(
        /^Token of ours 0x08\S+ 1,234\.56 OURS Beside it: 7 OURS locked by time\.$/,
      );
      await textOf(page, '.tabs').toBe('Holds 60 NFTs 2 Issued 0');
      await expectLook('address');
    });

    it('lists its outputs page by page, the newest first', async () => {
      await untilCount(page, '.outputs li', PAGE);
      await textOf(page, '.outputs li:first-child').toMatch(
        /^Basic output 6 SMR Of it 0\.0506 SMR is due to smr1q\S+ when it is spent\. 0x0000\S+ ?, by transaction$/,
      );
      await textOf(page, '.timeline h3').toBe('28 Sept 2022, 17:25:01 UTC, milestone 17339');
      await textOf(page, '.outputs').toMatch(
        /Unlocked by nobody until 28 Oct 2022, 17:25:01 UTC, then by this address\./,
      );
      await textOf(page, '.outputs').toMatch(
        /Unlocked by smr1q\S+ until 30 Sept 2022, 17:25:01 UTC, then by this address\./,
      );
      await click(page, 'a', 'Older →');
      await textOf(page, '.outputs li:first-child').toMatch(/^Basic output 35 SMR/);
      expect(await fragmentOf(page)).toBe(`#/address/${ADDRESS}?page=2`);
      await textOf(page, '.pager').toBe('← Newer Page 2 of 3 Older →');
      await open(page, `/address/${ADDRESS}?page=3`);
      await untilCount(page, '.outputs li', outputs.length - 2 * PAGE);
      await open(page, `/address/${ADDRESS}?page=4`);
      await textOf(page, 'main').toMatch(/there is no page 4/);
      await expectLook();
    });

    it('saves them as a table, and shows the address as a QR code', async () => {
      await open(page, `/address/${ADDRESS}`);
      await textOf(page, '.total').toBe(amountOf(balance.total));
      await page.evaluate(`{
        URL.createObjectURL = (blob) => {
          void blob.text().then((text) => { globalThis.saved = text; });
          return 'blob:';
        };
        HTMLAnchorElement.prototype.click = () => {};
      }`);
      await click(page, 'main button', `Save ${outputs.length} outputs as CSV`);
      await expect.poll(() => page.evaluate('globalThis.saved')).toMatch(/\r\n$/);
      const [head, ...rows] = String(await page.evaluate('globalThis.saved'))
        .trim()
        .split('\r\n');
      expect(head).toMatch(/^output ID,kind,base tokens,/);
      expect(rows.map((row) => row.split(',')[0])).toEqual(listed.toReversed());
      const amounts = rows.map((row) => BigInt(row.split(',')[2]!));
      expect(amounts.reduce((sum, amount) => sum + amount)).toBe(
        outputs.reduce((sum, { amount }) => sum + amount, 0n),
      );
      // what anybody wrote is not in it
      expect(rows.join()).toMatch(/^[\w:. ,-]+$/);
      await unfold(page);
      await untilCount(page, '.qr', 1);
      expect(await readQrCode(page)).toBe(ADDRESS);
      expect(await audit(page)).toEqual([]);
    });

    it('reads all that it adds up with few requests', async () => {
      await open(page, '/');
      await untilCount(page, '.home .gallery', 1);
      await page.evaluate('performance.clearResourceTimings()');
      await open(page, `/address/${ADDRESS}`);
      await textOf(page, '.total').toBe(amountOf(balance.total));
      const asked = (await page.evaluate(
        `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)`,
      )) as string[];
      // the 60 of the list, and one foundry
      expect(asked.filter((path) => path === '/api/edge/v1/outputs').length).toBe(2);
      // without the state of the ledger, which is read for as long as the page is open
      const ofLedger = ['/api/core/v2/info', '/api/routes'];
      const others = asked.filter((path) => !ofLedger.includes(path));
      expect(others.filter((path) => path.startsWith('/api/')).length).toBeLessThanOrEqual(23);
    });

    it('says which NFTs that name the address belong to another', async () => {
      const [own, other] = [listed[51]!, listed[52]!];
      const nftJson = (outputId: string, address: string) => ({
        nftId: toHex((byId.get(outputId) as NftOutput).nftId),
        outputId,
        owner: { address, canUnlock: true },
        ...answerOutput(outputId, byId.get(outputId)!),
      });
      node.lie([
        always(/\/outputs\/nft\?unlockableByAddress=/, () => list([own, other])),
        always(/\/api\/edge\/v1\/nfts\?ids=/, () => ({
          ledgerIndex: LEDGER_INDEX,
          nfts: [nftJson(other, OTHERS), nftJson(own, ADDRESS)],
        })),
        ...truth(),
      ]);
      await open(page, `/nfts/${ADDRESS}`);
      await textOf(page, '.tools [role=status]').toBe(
        '2 NFTs that name this address at ledger index 17339, the newest first. On this page 1 belongs to it, and 1 to another address',
      );
      await untilCount(page, '.gallery li', 2);
      await textOf(page, '.gallery li:first-child').toContain('belongs to another address');
      expect(await audit(page)).toEqual([]);
      await open(page, `/nfts/${ADDRESS}?page=9`);
      await textOf(page, 'main').toMatch(/there is no page 9/);
      node.lie([
        always(/\/outputs\/nft\?unlockableByAddress=/, () => list([own, other])),
        always(/\/api\/edge\/v1\/nfts\?ids=/, () => ({
          ledgerIndex: LEDGER_INDEX,
          nfts: [null, nftJson(own, ADDRESS)],
        })),
        ...truth(),
      ]);
      await open(page, '/');
      await open(page, `/nfts/${ADDRESS}`);
      await textOf(page, '.tools [role=status]').toMatch(
        /^2 NFTs .*\. 1 NFT of this page moved, ended or came meanwhile$/,
      );
      node.lie(truth());
    });

    it('shows what others wrote as text', async () => {
      await open(page, `/address/${ADDRESS}`);
      await textOf(page, '.outputs').toContain('NFT <img src=x onerror=alert(1)>');
      expect(await countOf(page, '.page img')).toBe(0);
    });

    it('leads to the alias, and on to its foundry', async () => {
      await click(page, '.outputs a', 'Alias');
      await textOf(page, '.of-id').toMatch(/^0x/);
      await factsOf(page).toMatchObject({ 'State index': '7', Foundries: '1' });
      await textOf(page, '#foundries-title').toBe('Its foundries');
      await expectLook('alias');
      await click(page, 'a', 'Token of ours');
      await factsOf(page).toMatchObject({
        Token: expect.stringMatching(/^Token of ours \(OURS\), 2 decimals/),
        Supply: '1,999.99 OURS',
        Minted: '2,000 OURS',
        Melted: '0.01 OURS',
        'At most': expect.stringMatching(/^10,000,000 OURS/),
      });
      await textOf(page, 'main').toMatch(/Who holds its tokens this node cannot list/);
      await expectLook('foundry');
      await search(page, FOUNDRY);
      await expect.poll(() => fragmentOf(page)).toBe(`#/foundry/${FOUNDRY}`);
      // its bytes are no claim
      await open(page, `/output/${foundryOutputId}`);
      await textOf(page, 'main').toMatch(/Supply 199,999 units At most 1,000,000,000 units/);
    });

    it('leads from the address of an alias to the alias', async () => {
      await search(page, toBech32('smr', { type: AddressType.Alias, id: ALIAS }).toUpperCase());
      await textOf(page, 'main').toMatch(
        /Whoever unlocks the alias 0x\S+ unlocks what this address holds\./,
      );
    });

    const oldest = (json: OutputJson) => (id: string) => (id === listed[0] ? json : undefined);

    it.each([
      [
        'an output of somebody else',
        oldest(answerOutput(listed[0]!, basic(others))),
        /The node lists output 0x0+, which does not name this address\./,
      ],
      [
        'another output than the one that was asked for',
        oldest(answerOutput(listed[1]!, basic(us))),
        /asked for output 0x0+, and answers another one\./,
      ],
      [
        'an output that no transaction creates',
        oldest({
          ...answerOutput(listed[0]!, basic(us)),
          output: { type: OutputType.Basic, amount: '1', unlockConditions: [] },
        }),
        /The node's answer is no output/,
      ],
      [
        'outputs without the one that it lists and does not have',
        oldest(null),
        /The ledger moved on each time that this was read\. Try again\./,
      ],
    ])('does not add up %s', async (_, answer, sentence) => {
      node.lie(truth(listed, answer));
      await open(page, '/');
      await open(page, `/address/${ADDRESS}`);
      await textOf(page, 'main').toMatch(sentence);
      expect(await countOf(page, '.total')).toBe(0);
      node.lie(truth());
    });

    it('asks before it reads more than 1,000 outputs', async () => {
      const many = Array.from({ length: 1001 }, (_, i) => listed[i % 50]!);
      node.lie(truth(many));
      await open(page, '/');
      await open(page, `/address/${ADDRESS}`);
      await untilCount(page, '.outputs li', PAGE);
      await textOf(page, '.balance button').toBe('Add up 1,001 outputs');
      await textOf(page, '.tabs').toBe('Holds 1,000+ NFTs 2 Issued 0');
      expect(await countOf(page, '.total')).toBe(0);
      node.lie(truth());
    });

    it('shows page after page, however often the ledger moved on before', async () => {
      const many = Array.from({ length: 1001 }, (_, i) => listed[i % 50]!);
      let hasMoved = false;
      const isListed: Rule = {
        concerns: ({ path }) => path.includes('/outputs?unlockableByAddress='),
        tell(asked, next) {
          hasMoved = false;
          return next(asked);
        },
      };
      node.lie([isListed, ...truth(many, () => (hasMoved ? null : undefined))]);
      await open(page, '/');
      for (let number = 1; number <= 7; number++) {
        await open(page, `/address/${ADDRESS}?page=${number}`);
        await textOf(page, '.pager').toContain(`Page ${number} of 41`);
        await untilCount(page, '.outputs li', PAGE);
        hasMoved = true;
      }
      node.lie(truth());
    });

    it('says what it cannot know of an address with nothing', async () => {
      node.lie(truth([]));
      await open(page, `/address/${OTHERS}`);
      await textOf(page, '.reason').toMatch(
        /at ledger index 17339 no unspent output names this address/,
      );
      await expectLook();
    });
  });
});
