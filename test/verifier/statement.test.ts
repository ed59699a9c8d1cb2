/** `stardust-edge verify FILE…`: what it says of the statement of an address, offline. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toBech32 } from '../../src/stardust/bech32.ts';
import { toHex, Writer } from '../../src/stardust/encoding/bytes.ts';
import { encode } from '../../src/stardust/encoding/codec.ts';
import {
  type FinalEntry,
  type FinalLedger,
  finalRoot,
  GrowingTree,
  pathThrough,
  treeLevels,
} from '../../src/stardust/proof/final-ledger.ts';
import { leafHash } from '../../src/stardust/proof/merkle.ts';
import { makeStatement, statementToJson } from '../../src/stardust/proof/statement.ts';
import { provedValue } from '../../src/stardust/provenance/provenance.ts';
import { putLedgerOutput } from '../../src/stardust/wire/ledger-output.ts';
import { type Output, output } from '../../src/stardust/wire/output.ts';
import { reportStatement } from '../../verifier/verify-statement.ts';
import { callCommand } from '../support/cli/call-script.ts';
import { temporaryFolder } from '../support/cli/script-process.ts';
import {
  basic,
  depositReturn,
  expiration,
  idOf,
  nft,
  timelock,
} from '../support/payloads/outputs.ts';

const [ANNA, BERT] = ['anna', 'bert'].map((name) => ({ type: 0 as const, id: idOf(name) }));
const NEW_YEAR = 1_767_225_600;
const TOKEN = { id: new Uint8Array(38).fill(8), amount: 5n };

const HELD: Output[] = [
  basic(ANNA!, { amount: 1_500_000n, tokens: [TOKEN] }),
  basic(ANNA!, { conditions: [expiration(BERT!, NEW_YEAR)] }),
  nft(ANNA!, {
    nftId: idOf('nft'),
    conditions: [timelock(NEW_YEAR), depositReturn(BERT!, 50_000n)],
  }),
  basic(BERT!, { conditions: [depositReturn(ANNA!, 70_000n)] }),
];

/** A ledger with these outputs alone, and the statement of ANNA in pages of two. */
function madeStatement(networkName: string, prefix: string) {
  const records = HELD.map((each, i) => {
    const writer = new Writer();
    const outputId = new Uint8Array(34).fill(i + 1);
    const booked = {
      outputId,
      blockId: idOf('block'),
      bookedIndex: i,
      bookedTimestamp: 1_700_000_000 + i,
    };
    putLedgerOutput(writer, { ...booked, bytes: encode(output, each) });
    return writer.finish();
  });
  const tree = new GrowingTree();
  for (const record of records) tree.add(record);
  const levels = treeLevels(records.map(leafHash));
  const ledger: FinalLedger = {
    networkName,
    milestoneIndex: 99,
    milestoneId: idOf('milestone'),
    outputs: { count: records.length, root: tree.root() },
    nfts: { count: 0, root: new GrowingTree().root() },
  };
  const entries = records.map(
    (record, position): FinalEntry => ({ position, record, path: pathThrough(levels, position) }),
  );
  const cursors = records.map(
    (record, i) => (1_700_000_000 + i).toString(16) + toHex(record).slice(2, 70),
  );
  const page = (from: number, to: number) => {
    const parts = {
      ...{ address: ANNA!, prefix, ledger, entries: entries.slice(from, to) },
      after: cursors[from - 1],
      next: to < records.length ? cursors[to - 1] : undefined,
    };
    return JSON.parse(JSON.stringify(statementToJson(parts, makeStatement(parts))));
  };
  return { root: finalRoot(ledger), page };
}

const { root, page } = madeStatement('shimmer', 'smr');
const [anna, bert] = [toBech32('smr', ANNA!), toBech32('smr', BERT!)];
const say = (pages: readonly unknown[], trusted = root) => {
  const { proved, open } = reportStatement(pages, trusted);
  return { proved: proved.map(provedValue), open };
};

describe('a statement', () => {
  it('is printed as people read it', () => {
    const { proved, open } = say([page(0, 4)]);
    expect(proved).toEqual([
      `When shimmer ended, at milestone 99, its ledger had 4 outputs that ${anna} can unlock, now or later.`,
      'Its own: 2 outputs with 2.5 SMR, of which 0.05 SMR must be returned to others, 1 SMR of it under a timelock, over or not.',
      `Its own: 5 units of native token 0x${'08'.repeat(38)}.`,
      'Its own until they expire: 1 output with 1 SMR.',
      'Deposits that others must return to it: 1 output with 0.07 SMR.',
      '',
      `Output 0x${'01'.repeat(34)}, since the network began:`,
      '  Basic output, with 1.5 SMR.',
      `  It holds 5 units of native token 0x${'08'.repeat(38)}.`,
      `  Only ${anna} can spend it.`,
      '',
      `Output 0x${'02'.repeat(34)}, since 14 Nov 2023, 22:13:21 UTC, milestone 1:`,
      '  Basic output, with 1 SMR.',
      `  Only ${anna} can spend it before 1 Jan 2026, 00:00:00 UTC; from then on only ${bert} can.`,
      '',
      `Output 0x${'03'.repeat(34)}, since 14 Nov 2023, 22:13:22 UTC, milestone 2:`,
      `  NFT ${toHex(idOf('nft'))}, with 1 SMR.`,
      `  Nobody can spend it before 1 Jan 2026, 00:00:00 UTC; from then on only ${anna} can.`,
      `  Spending it returns 0.05 SMR to ${bert}.`,
      '',
      `Output 0x${'04'.repeat(34)}, since 14 Nov 2023, 22:13:23 UTC, milestone 3:`,
      '  Basic output, with 1 SMR.',
      `  Only ${bert} can spend it.`,
      `  Spending it returns 0.07 SMR to ${anna}.`,
    ]);
    expect(open[0]).toBe('Its maker says that no page is missing.');
    expect(open[1]).toMatch(/^This file does not prove that the address had no other outputs\./);
  });

  it('in pages is the same as in one', () => {
    expect(say([page(0, 1), page(1, 3), page(3, 4)])).toEqual(say([page(0, 4)]));
  });

  it('that is a part is called a part', () => {
    expect(say([page(0, 1)]).open[0]).toBe('It is a part: more pages follow.');
    expect(say([page(1, 4)]).open[0]).toBe('It is a part: pages come before these.');
    expect(say([page(1, 2)]).open[0]).toMatch('before these, and more pages follow');
  });

  it.each([
    ['another page left out', [page(0, 1), page(2, 4)]],
    ['its pages in another order', [page(1, 4), page(0, 1)]],
    ['one page twice', [page(0, 1), page(0, 1)]],
    ['one page of another ledger', [page(0, 2), madeStatement('other', 'smr').page(2, 4)]],
  ])('is refused with %s', (_, pages) => {
    expect(() => say(pages)).toThrow(/^(file 2 is |the statement is not proved)/);
  });

  it('is refused with the addresses of another network, if the network is known', () => {
    const strange = madeStatement('shimmer', 'iota');
    expect(() => say([strange.page(0, 4)], strange.root)).toThrow(
      'addresses of shimmer begin with smr1',
    );
    const unknown = madeStatement('mine', 'iota');
    const { proved } = say([unknown.page(0, 4)], unknown.root);
    // whose decimals nobody proves
    expect(proved[1]).toMatch(
      /^Its own: 2 outputs with 2,500,000 base tokens, of which 50,000 base/,
    );
    expect(proved[9]).toBe(`  Only ${toBech32('iota', ANNA!)} can spend it.`);
  });
});

describe('the command', () => {
  const folder = temporaryFolder();
  const write = (name: string, json: unknown) => {
    const file = join(folder, name);
    writeFileSync(file, typeof json === 'string' ? json : JSON.stringify(json, undefined, 2));
    return file;
  };
  const run = (...args: string[]) => callCommand('verify', ...args, '--final-root', toHex(root));

  it('prints what files prove, and what they do not', async () => {
    const { code, stdout, stderr } = await run(
      write('1.json', page(0, 2)),
      write('2.json', page(2, 4)),
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { proved, open } = say([page(0, 4)]);
    expect(stdout).toBe(`${[...proved, '', 'Not proved:', ...open].join('\n')}\n`);
  });

  it('ends with 1 for a file that proves nothing, or cannot be read', async () => {
    const false_ = await run(write('false.json', { ...page(0, 2), address: bert }));
    expect(false_).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^False: the statement/),
    });
    const none = await run(write('none.json', 'x'));
    expect(none).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Not checked: .*none.json/),
    });
    const endless = await run('/dev/zero');
    expect(endless).toMatchObject({ code: 1, stderr: expect.stringMatching(/larger than a page/) });
    const missing = await run(write('3.json', page(0, 2)), join(folder, 'nowhere.json'));
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Not checked:/) });
  });

  it('wants a root', async () => {
    const file = write('4.json', page(0, 4));
    expect((await callCommand('verify', file)).code).toBe(2);
    expect((await callCommand('verify', file, '--final-root', 'x')).code).toBe(2);
  });
});
