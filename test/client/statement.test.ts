/** `stardust-edge verify FILE…`: what it says of the statement of an address, offline. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { reportStatement } from '../../client/verify-statement.ts';
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
import {
  makeStatement,
  statementToJson,
  verifyStatement,
} from '../../src/stardust/proof/statement.ts';
import { provedValue } from '../../src/stardust/provenance/provenance.ts';
import { joinStatements, proveStatement } from '../../src/stardust/provenance/statement.ts';
import { putLedgerOutput } from '../../src/stardust/wire/ledger-output.ts';
import { type Output, output } from '../../src/stardust/wire/output.ts';
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
function madeStatement(networkName: string, prefix: string, held: readonly Output[] = HELD) {
  const records = held.map((each, i) => {
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
  const page = (from: number, to: number, owner = ANNA!) => {
    const parts = {
      ...{ address: owner, prefix, ledger, entries: entries.slice(from, to) },
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
  const { headline, notShown, sums, outputs, limits } = reportStatement(pages, trusted);
  const body = outputs.flatMap(({ title, sentences }) => [
    '',
    `${provedValue(title)}:`,
    ...sentences.map((each) => `  ${provedValue(each)}`),
  ]);
  return {
    proved: [provedValue(headline), notShown, ...sums.map(provedValue), ...body],
    open: limits,
  };
};

describe('a statement', () => {
  it('is printed as people read it', () => {
    const { proved, open } = say([page(0, 4)]);
    expect(proved).toEqual([
      `This file shows 4 outputs that name ${anna}, unspent in the ledger with which shimmer ended, at milestone 99.`,
      'It does not show whether there were others, which its maker may have left out.',
      'Its own: 2 outputs with 2.45 SMR, of which 0.95 SMR under a timelock until dates that they name, and beside that 0.05 SMR due to others when they are spent.',
      `Its own: 5 units of native token 0x${'08'.repeat(38)}.`,
      'Its own until dates that they name, then of others: 1 output with 1 SMR.',
      'Of others, who owe it a deposit when they spend them: 1 output with 0.07 SMR due to it.',
      'The network ended at 14 Nov 2023, 22:13:23 UTC or later, so dates after that may have come before its end.',
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
    expect(proved[2]).toMatch(
      /^Its own: 2 outputs with 2,450,000 base tokens, of which 950,000 base/,
    );
    expect(proved[11]).toBe(`  Only ${toBech32('iota', ANNA!)} can spend it.`);
  });
});

describe('what a statement adds up to', () => {
  const BOOKED = 1_700_000_000;
  const sumsOf = (held: readonly Output[]) => {
    const made = madeStatement('shimmer', 'smr', held);
    const { proved } = say([made.page(0, held.length)], made.root);
    return proved.slice(2, proved.indexOf(''));
  };

  it('is nothing in a file with nothing', () => {
    const made = madeStatement('shimmer', 'smr', HELD);
    const { proved } = say([{ ...made.page(0, 0), after: null, next: null }], made.root);
    expect(proved).toEqual([
      `This file shows 0 outputs that name ${anna}, unspent in the ledger with which shimmer ended, at milestone 99.`,
      'It does not show whether there were others, which its maker may have left out.',
    ]);
  });

  it('of deposits that others owe is theirs, and not its own', () => {
    const [sum] = sumsOf([basic(BERT!, { conditions: [depositReturn(ANNA!, 70_000n)] })]);
    expect(sum).toBe(
      'Of others, who owe it a deposit when they spend them: 1 output with 0.07 SMR due to it.',
    );
  });

  it('of deposits is none where the output has expired to who would get it', () => {
    const expired = basic(ANNA!, {
      conditions: [depositReturn(BERT!, 100_000n), expiration(BERT!, BOOKED + 1)],
    });
    // booked after it had expired
    const sums = sumsOf([expired, basic(ANNA!, {}), basic(ANNA!, {})]);
    expect(sums).toContain(
      'Of others, to whom they had expired when the network ended: 1 output with 1 SMR.',
    );
  });

  it('has each native token once, in the order of their IDs', () => {
    const other = { id: new Uint8Array(38).fill(7), amount: 3n };
    const held = [[TOKEN], [other, TOKEN]].map((tokens) => basic(ANNA!, { tokens }));
    expect(madeStatement('shimmer', 'smr', held).page(0, 2).totals.own.nativeTokens).toEqual([
      { id: toHex(other.id), amount: '0x3' },
      { id: toHex(TOKEN.id), amount: '0xa' },
    ]);
  });

  it('goes by what had expired when the file shows that the ledger went on', () => {
    const conditions = [expiration(BERT!, BOOKED + 1)];
    const gone = basic(ANNA!, { conditions });
    // booked after the first had expired
    const later = basic(ANNA!, {});
    expect(sumsOf([gone, later])).toEqual([
      'Its own: 1 output with 1 SMR.',
      'Of others, to whom they had expired when the network ended: 1 output with 1 SMR.',
    ]);
    expect(sumsOf([gone])[0]).toMatch(
      /^Its own until dates that they name, then of others: 1 output/,
    );
    const came = basic(BERT!, { conditions: [expiration(ANNA!, BOOKED + 1)] });
    expect(sumsOf([came])[0]).toMatch(
      /^Of others until dates that they name, then its own: 1 output/,
    );
    expect(sumsOf([came, later])[0]).toBe('Its own: 2 outputs with 2 SMR.');
  });

  it('counts each base token once', () => {
    const owners = [ANNA!, BERT!];
    const times = [BOOKED - 5, BOOKED + 1, NEW_YEAR];
    const held: Output[] = [];
    for (const owner of owners)
      for (const back of [undefined, ...owners])
        for (const time of times)
          for (const payee of [undefined, ...owners])
            for (const lock of [undefined, ...times]) {
              const conditions = [
                ...(payee === undefined ? [] : [depositReturn(payee, 1000n)]),
                ...(lock === undefined ? [] : [timelock(lock)]),
                ...(back === undefined ? [] : [expiration(back, time)]),
              ];
              if ([owner, back, payee].includes(ANNA!))
                held.push(basic(owner, { amount: 1_000_000n + BigInt(held.length), conditions }));
            }
    expect(held.length).toBeGreaterThan(100);
    const lines = sumsOf(held);
    const counted = lines.flatMap((line) => {
      const isDue = line.startsWith('Of others, who owe it');
      const [, amount] = /outputs? with ([\d.,]+) SMR/.exec(line) ?? [];
      const [, beside = '0'] = /beside that ([\d.,]+) SMR/.exec(line) ?? [];
      return amount === undefined ? [] : [{ isDue, amount, beside }];
    });
    const micro = (text: string) => {
      const [whole, rest = ''] = text.replaceAll(',', '').split('.');
      return BigInt(whole + rest.padEnd(6, '0'));
    };
    // of outputs that are others' only the deposit counts, which is 1,000 of each
    const due = counted.find(({ isDue }) => isDue)!;
    const [, dueCount] = /: (\d+) outputs/.exec(
      lines.find((each) => each.startsWith('Of others, who'))!,
    )!;
    expect(micro(due.amount)).toBe(1000n * BigInt(dueCount!));
    const rest = counted.filter(({ isDue }) => !isDue);
    const sum = rest.reduce((all, each) => all + micro(each.amount) + micro(each.beside), 0n);
    const others = held.filter(
      ({ unlockConditions }) =>
        unlockConditions.some((each) => each.type === 1 && each.returnAddress === ANNA) &&
        !isOwnEver(unlockConditions),
    );
    expect(others).toHaveLength(Number(dueCount));
    const total = held
      .filter((each) => !others.includes(each))
      .reduce((all, { amount }) => all + amount, 0n);
    expect(sum).toBe(total);
  });

  /** Whether ANNA can unlock it at the latest time of the file, or at a later one. */
  function isOwnEver(conditions: Output['unlockConditions']): boolean {
    const expires = conditions.find((each) => each.type === 3);
    const address = conditions.find((each) => each.type === 0)?.address;
    if (expires === undefined) return address === ANNA;
    const isOver = expires.unixTime <= BOOKED + 300;
    return isOver
      ? expires.returnAddress === ANNA
      : address === ANNA || expires.returnAddress === ANNA;
  }
});

describe('pages', () => {
  const joined = (...pages: readonly unknown[]) =>
    joinStatements(
      pages.map((json) => {
        const finding = proveStatement(json, root);
        if (finding.standing !== 'proved') throw new Error(finding.reason);
        return finding.proof;
      }),
    );

  it('are of one address, whose prefix is the same, and add up', () => {
    const finding = joined(page(0, 2), page(2, 4));
    if (finding.standing !== 'proved') throw new Error(finding.reason);
    const whole = verifyStatement(page(0, 4), root);
    expect(whole).toEqual({ ok: true, statement: provedValue(finding.proof) });
    for (const other of [page(2, 4, BERT!), madeStatement('shimmer', 'rms').page(2, 4)])
      expect(joined(page(0, 2), other)).toMatchObject({
        standing: 'refuted',
        reason: 'file 2 is of another address or ledger than the first',
      });
  });

  it('name no output twice', () => {
    const { outputs, ...rest } = page(0, 4);
    expect(verifyStatement({ ...rest, outputs: [outputs[0], ...outputs] }, root)).toEqual({
      ok: false,
      reason: 'B.13: outputs are not in order',
    });
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
    const secret = ['http://anna:secret@node.example', '--final-root', toHex(root)];
    const repeated = await callCommand('verify', file, ...secret);
    expect([repeated.code, repeated.stderr.includes('secret')]).toEqual([2, false]);
    expect(await callCommand('verify', file)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('a file needs --final-root'),
    });
    expect((await callCommand('verify', file, '--final-root', 'x')).code).toBe(2);
  });

  it.each([
    [['--nft', `0x${'ab'.repeat(32)}`]],
    [['--network', 'shimmer']],
    [['--threshold', '2']],
    [['--agree', '3']],
  ])('does not pass over %j', async (args) => {
    expect((await run(write('5.json', page(0, 4)), ...args)).code).toBe(2);
  });
});
