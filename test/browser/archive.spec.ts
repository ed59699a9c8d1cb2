/**
 * The explorer at an ended network: a final root that is entered once proves outputs, chains and what an
 * address held; a node that lies about them is shown as lying; files are checked without a node.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { constants, inflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { audit } from '../support/browser/audit.ts';
import {
  DRIVERS,
  type DrivenBrowser,
  type DrivenPage,
  SCREENS,
} from '../support/browser/driven-page.ts';
import { readQrCode } from '../support/browser/read-qr-code.ts';
import { readShown } from '../support/browser/read-standing.ts';
import { SAMPLE_HOLDER as HOLDER } from '../support/browser/sample-facts.ts';
import {
  click,
  countOf,
  fill,
  open,
  overhangOf,
  textOf,
  untilCount,
} from '../support/browser/use-page.ts';
import { type LyingNode, nodeAt, startLyingNode } from '../support/lies/lying-node.ts';
import { inJson, type Json } from '../support/lies/rules.ts';

const { ended } = inject('sample');

const STATEMENT = `/api/edge/v1/final/addresses/${HOLDER}`;
const UNKNOWN = `0x${'5a'.repeat(34)}`;

const read = async (path: string) => (await fetch(ended + path)).json();
const { finalRoot } = (await read('/api/edge/v1/final')) as { finalRoot: string };
const statement = (await read(STATEMENT)) as { outputs: { record: string }[]; next: null };
const outputIds = statement.outputs.map(({ record }) => record.slice(0, 70));

/** Another digit of the amount in the first record. */
const changeAmount = (json: typeof statement) => {
  const [first] = json.outputs;
  // ID 34, block 32, index, time and length 4 each, type 1: then the amount
  const at = 2 + 2 * (34 + 32 + 12 + 1);
  const digit = first!.record[at] === '0' ? '1' : '0';
  first!.record = first!.record.slice(0, at) + digit + first!.record.slice(at + 1);
};

/** Page objects of a PDF stand as they are (Chromium), or in compressed streams (Firefox). */
function countPages(pdf: Uint8Array): number {
  const text = Buffer.from(pdf).toString('latin1');
  const streams = Array.from(text.matchAll(/stream\r?\n/g), ({ index, 0: { length } }) => {
    try {
      const { buffer } = inflateSync(pdf.subarray(index + length), {
        info: true,
        finishFlush: constants.Z_SYNC_FLUSH,
      }) as unknown as { buffer: Buffer };
      return buffer.toString('latin1');
    } catch {
      return '';
    }
  });
  return [text, ...streams].join('\n').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
}

/** The text of a PDF, without white space: where lines break is the printer's. */
function readPaper(pdf: Uint8Array): string {
  const path = join(mkdtempSync(join(tmpdir(), 'paper-')), 'sheet.pdf');
  try {
    writeFileSync(path, pdf);
    const text = execFileSync('pdftotext', ['-raw', path, '-'], { encoding: 'utf8' });
    // Firefox prints ligatures
    return text.normalize('NFKC').replaceAll(/\s+/g, '');
  } finally {
    rmSync(dirname(path), { recursive: true });
  }
}

/** Where the parts of the sheet begin. */
const topsOf = (page: DrivenPage) =>
  page.evaluate(`[...document.querySelector('.sheet').children].map((part) =>
    Math.round(part.getBoundingClientRect().top + scrollY))`);

describe.each(DRIVERS)('in $name', ({ launch }) => {
  describe.each(SCREENS)('on a %s, in %s colours', (size, scheme) => {
    let browser: DrivenBrowser;
    let node: LyingNode;
    let page: DrivenPage;

    beforeAll(async () => {
      browser = await launch({ scheme });
      node = await startLyingNode(nodeAt(ended));
      page = await browser.open(`${node.url}/`, size);
    });
    afterAll(async () => {
      await page?.close();
      await browser?.close();
      await node?.[Symbol.asyncDispose]();
    });

    async function expectSound(): Promise<void> {
      expect(await audit(page)).toEqual([]);
      expect(await overhangOf(page)).toBe(0);
      expect(page.faults).toEqual([]);
    }

    it('begins with the question that most people bring', async () => {
      await textOf(page, '#held-title').toBe('What did this address hold when the network ended?');
      await fill(page, 'input[name=holder]', 'smr1nothing');
      await click(page, 'button', 'Show what it held');
      await textOf(page, '.home .problem').toMatch(/neither an ID|checksum/);
      await fill(page, 'input[name=holder]', HOLDER);
      await click(page, 'button', 'Show what it held');
      await textOf(page, '#statement-title').toBe('Prove what this address held');
      await expectSound();
    });

    it('calls nothing proved or checked before there is a root', async () => {
      await open(page, `/output/${outputIds[0]}`);
      await textOf(page, '#archive-title').toBe('What the final root says of it');
      await untilCount(page, '.archive input[name=root]', 1);
      await untilCount(page, '.loading', 0);
      const { text, by } = await readShown(page);
      expect(text).not.toMatch(/(?:Proved|Checked) against|that you gave/i);
      expect(by.proved).toEqual([]);
    });

    it('links no milestone that the node does not keep, on the page of an NFT', async () => {
      const { items } = (await read('/api/indexer/v1/outputs/nft')) as { items: string[] };
      const { nfts } = (await read(`/api/edge/v1/nfts?ids=${items[0]}`)) as {
        nfts: { nftId: string }[];
      };
      const { status } = (await read('/api/core/v2/info')) as { status: { pruningIndex: number } };
      await open(page, `/nft/${nfts[0]!.nftId}`);
      await textOf(page, '.facts').toMatch(/Held since .* UTC, milestone \d+/);
      await untilCount(page, '.loading', 0);
      const linked = (await page.evaluate(
        `[...document.querySelectorAll('main a[href^="/milestone/"]')].map((a) => a.pathname)`,
      )) as string[];
      const kept = (path: string) => Number(path.split('/')[2]) > status.pruningIndex;
      expect(linked.filter((path) => !kept(path))).toEqual([]);
      await expectSound();
    });

    it('takes a root once, and proves what an address held', async () => {
      await open(page, `/address/${HOLDER}`);
      await click(page, 'main button.main', 'Prove what this address held');
      await untilCount(page, '.archive input[name=root]', 1);
      await fill(page, '.archive input[name=root]', '0x12');
      await click(page, '.archive form button', 'Check against it');
      await textOf(page, '.archive .problem').toBe('The root must be 0x and 64 hex digits.');
      await expectSound();
      await fill(page, '.archive input[name=root]', finalRoot);
      await click(page, '.archive form button', 'Check against it');
      await click(page, '.archive > button', 'Prove what this address held');
      await textOf(page, '.sheet').toMatch(
        new RegExp(
          `This file shows ${outputIds.length} outputs? that names? ${HOLDER}, unspent in the ledger with which shimmer ended, at milestone 17338\\..*It does not show whether there were others`,
          's',
        ),
      );
      await textOf(page, '.sheet').toMatch(/Its own: \d+ outputs? with [\d.,]+ SMR\./);
      await textOf(page, '.sheet').toMatch(/10,000,000,000 units of native token 0x/);
      for (const id of outputIds) await textOf(page, '.stated').toMatch(id);
      await textOf(page, '.sheet').toMatch(/does not prove that the address had no other outputs/);
      await expectSound();
    });

    it('prints on one page, with an annex', async () => {
      await textOf(page, '.sheet .how').toContain(
        `npx stardust-edge verify statement.json --final-root ${finalRoot}`,
      );
      await untilCount(page, '.sheet .qr', 1);
      expect(await readQrCode(page)).toBe(
        `npx stardust-edge verify statement.json --final-root ${finalRoot}`,
      );
      const pdf = await page.pdf();
      expect(countPages(pdf)).toBe(2);
      const paper = readPaper(pdf);
      for (const said of [
        'This file shows',
        HOLDER,
        'What it does not prove',
        finalRoot,
        'npx stardust-edge verify statement.json --final-root',
        'Annex',
        ...outputIds,
      ])
        expect(paper).toContain(said.replaceAll(' ', ''));
      expect(paper).not.toMatch(/Doyoumissone|Saveth|Printit|Search/);
      // any number of outputs is in the annex, and leaves the first page as it is
      const before = await topsOf(page);
      await page.evaluate(`{
        const list = document.querySelector('.stated');
        for (let i = 0; i < 230; i++) list.append(list.firstElementChild.cloneNode(true));
      }`);
      expect(countPages(await page.pdf())).toBeGreaterThan(10);
      expect(await topsOf(page)).toEqual(before);
      await page.reload();
      await click(page, '.archive > button', 'Prove what this address held');
      await untilCount(page, '.sheet', 1);
    });

    it('proves that an output is there, or is not, to who misses one', async () => {
      await fill(page, '.sheet input[name=id]', UNKNOWN);
      await click(page, '.sheet form button', 'Check');
      await textOf(page, '#final-verdict').toMatch(`Output ${UNKNOWN} is not in the ledger.`);
      await fill(page, '.sheet input[name=id]', outputIds[0]!);
      await click(page, '.sheet form button', 'Check');
      await textOf(page, '#final-verdict').toMatch(`${outputIds[0]} is in the ledger, unspent.`);
    });

    it('proves outputs by the same root', async () => {
      await open(page, `/output/${outputIds[0]}`);
      await textOf(page, '.archive [role=status]').toMatch(
        /Output 0x.* is in the ledger, unspent\..* SMR\..*Only smr1.* can spend it\./s,
      );
      await expectSound();
      await open(page, `/output/${UNKNOWN}`);
      await textOf(page, '.archive .good').toBe(`Output ${UNKNOWN} is not in the ledger.`);
      await expectSound();
    });

    it('calls false what the node shows otherwise than the last ledger has it', async () => {
      const { items } = (await read('/api/indexer/v1/outputs/nft')) as { items: string[] };
      const { nfts } = (await read(`/api/edge/v1/nfts?ids=${items.slice(0, 20).join()}`)) as {
        nfts: { nftId: string; owner: { address: string } }[];
      };
      const { nftId } = nfts.find(({ owner }) => owner.address !== HOLDER)!;
      const output = `/api/core/v2/outputs/${outputIds[0]}`;
      const lies = [
        [
          output,
          (json: Json) => void Object.assign(json.output, { amount: '1' }),
          /another output than the last/,
        ],
        [
          output,
          (json: Json) => void Object.assign(json.metadata, { isSpent: true }),
          /as spent what the last/,
        ],
        [
          `/api/edge/v1/nfts/${nftId}`,
          (json: Json) => void Object.assign(json.owner, { address: HOLDER }),
          /another owner than the conditions of the output, which are proved, lead to/,
        ],
        [
          `/api/edge/v1/nfts/${nftId}`,
          (json: Json) => void Object.assign(json.output, { amount: '1' }),
          /another deposit than the last ledger has/,
        ],
      ] as const;
      for (const [path, change, sentence] of lies) {
        const own = path === output ? `/output/${outputIds[0]}` : `/nft/${nftId}`;
        await open(page, '/verify');
        await open(page, own);
        await textOf(page, '.archive [role=status]').toMatch(/ can spend it\./);
        expect(await countOf(page, '.bad')).toBe(0);
        node.lie([inJson(path, change)]);
        await open(page, '/verify');
        await open(page, own);
        await textOf(page, '.archive .bad').toMatch(sentence);
        node.lie([]);
      }
    });

    it('shows a node as lying that changes an amount', async () => {
      node.lie([inJson(STATEMENT, changeAmount)]);
      try {
        await open(page, `/statement/${HOLDER}`);
        await click(page, '.archive > button', 'Prove what this address held');
        await textOf(page, '.statement-verdict').toMatch(/the statement is not proved: .*path/i);
        expect((await readShown(page)).by.proved).toEqual([]);
        expect(await countOf(page, '.sheet')).toBe(0);
      } finally {
        node.lie([]);
      }
    });

    it('checks files', async () => {
      await open(page, '/verify');
      await click(page, 'main a', 'from files');
      await untilCount(page, 'input[name=statement]', 1);
      const give = (json: unknown, name = 'statement.json') =>
        page.evaluate(`{
          const input = document.querySelector('input[name=statement]');
          const chosen = new DataTransfer();
          chosen.items.add(new File([${JSON.stringify(JSON.stringify(json))}], '${name}'));
          input.files = chosen.files;
          input.dispatchEvent(new Event('change', { bubbles: true }));
        }`);
      await give(statement);
      await textOf(page, '.sheet').toMatch(HOLDER);
      await textOf(page, '.statement-verdict').toMatch(
        /has checked the proofs of \d+ outputs against/,
      );
      await expectSound();
      const changed = structuredClone(statement);
      changeAmount(changed);
      await give(changed);
      await textOf(page, '.statement-verdict').toMatch(/is not proved/);
      expect(await countOf(page, '.sheet')).toBe(0);
      // a file that is read for long is not shown in place of the one that was chosen after it
      await page.evaluate(`{
        const { text } = Blob.prototype;
        const held = new Promise((resolve) => { globalThis.release = resolve; });
        Blob.prototype.text = async function () {
          if (this.name === 'slow.json') await held;
          return text.call(this);
        };
      }`);
      await give(statement, 'slow.json');
      await give(changed);
      await textOf(page, '.statement-verdict').toMatch(/is not proved/);
      await page.evaluate('release(), new Promise((resolve) => setTimeout(resolve, 200))');
      expect(await countOf(page, '.sheet')).toBe(0);
    });

    it('shows nothing that was proved against one root beside another one', async () => {
      await open(page, `/statement/${HOLDER}`);
      await click(page, '.archive > button', 'Prove what this address held');
      await textOf(page, '.sheet .how').toContain(finalRoot);
      await click(page, '.archive button', 'Forget it');
      await untilCount(page, '.archive input[name=root]', 1);
      const other = `0x${'5a'.repeat(32)}`;
      await fill(page, '.archive input[name=root]', other);
      await click(page, '.archive form button', 'Check against it');
      await textOf(page, '.archive').toContain('The final root that you gave: ');
      expect(await countOf(page, '.sheet')).toBe(0);
      await click(page, '.archive > button', 'Prove what this address held');
      await textOf(page, '.statement-verdict').toMatch(/is not proved/);
      await click(page, '.archive button', 'Forget it');
      await untilCount(page, '.archive input[name=root]', 1);
    });

    it('refutes all of it for another root', async () => {
      await open(page, `/output/${outputIds[0]}`);
      await untilCount(page, '.archive input[name=root]', 1);
      await fill(page, '.archive input[name=root]', `0x${'5a'.repeat(32)}`);
      await click(page, '.archive form button', 'Check against it');
      await textOf(page, '.archive .bad').toMatch(/not those of the final root/);
      expect((await readShown(page)).by.proved).toEqual([]);
    });
  });
});
