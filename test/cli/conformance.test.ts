/**
 * `stardust-edge conformance`: the recorded vectors pass, spoilt ones fail with a sentence, and
 * nothing makes it crash.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { README_PARAMETERS } from '../../cli/conformance/parameters.ts';
import { readVectors } from '../../cli/conformance/read-vectors.ts';
import { runVector } from '../../cli/conformance/run-vector.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { encode } from '../../src/stardust/encoding/codec.ts';
import { blockFromJson } from '../../src/stardust/json/rest-json.ts';
import { block } from '../../src/stardust/wire/block.ts';
import { callCommand } from '../support/cli/call-script.ts';
import { runCommand, temporaryFolder } from '../support/cli/script-process.ts';
import { readJson, readLines } from '../support/vectors.ts';

type Vector = Record<string, unknown>;

const vectors = (name: string) => readLines(`${name}.jsonl`) as Vector[];
const run = (vector: unknown) => runVector(JSON.stringify(vector), README_PARAMETERS);
const parsing = vectors('parsing');
const semantics = vectors('semantics').slice(0, 100);
const whiteFlags = vectors('hornet-suite');
const proofs = ['private-network', 'shimmer-3857880'].map(
  (name) => readJson(`proofs/${name}.json`) as Vector,
);

const folder = temporaryFolder();
let files = 0;
function file(content: string | Uint8Array, ending = 'jsonl'): string {
  const path = join(folder, `${files++}.${ending}`);
  writeFileSync(path, content);
  return path;
}

describe('recorded vectors', () => {
  it.each([
    { name: 'Merkle roots', all: vectors('merkle').slice(0, 100) },
    { name: 'signatures', all: vectors('ed25519') },
    { name: 'blocks', all: parsing },
    { name: 'verdicts', all: semantics },
    { name: 'white-flag computations', all: whiteFlags },
    { name: 'proofs', all: proofs },
  ])('pass: $name', async ({ all }) => {
    for (const vector of all) expect((await run(vector)).failure).toBe(undefined);
  });

  it('have blocks whose JSON makes their bytes again', () => {
    for (const { json, block: bytes } of parsing.filter(({ valid }) => valid)) {
      expect(toHex(encode(block, blockFromJson(json)))).toBe(bytes);
    }
  });
});

describe('spoilt vectors', () => {
  const valid = parsing.find((vector) => vector.valid && vector.payloadId !== undefined)!;
  const invalid = parsing.find((vector) => !vector.valid)!;
  const applied = semantics.find(({ conflict }) => conflict === 0)!;
  const whiteFlag = whiteFlags.find(
    ({ ledgerInputs }) => Array.isArray(ledgerInputs) && ledgerInputs.length > 0,
  )!;
  const order = whiteFlag.whiteFlagOrder as Vector[];
  const transaction = order.findIndex(({ isTransaction }) => isTransaction);
  const id = toHex(new Uint8Array(32));

  it.each<[string, unknown, RegExp]>([
    ['another root', { leaves: 3, root: id }, /^root: .* is expected/],
    ['leaves that are no number', { leaves: '3' }, /"leaves"/],
    [
      'a signature said to be valid',
      { ...vectors('ed25519').at(-1), message: '0x00', valid: true },
      /^valid: false/,
    ],
    ['a valid block said to be invalid', { ...valid, valid: false }, /^accepted/],
    ['an invalid block said to be valid', { ...invalid, valid: true }, /^refused: /],
    ['another block ID', { ...valid, blockId: id }, /^blockId: /],
    ['another payload ID', { ...valid, payloadId: id }, /^payloadId: /],
    [
      'another nonce in the JSON',
      { ...valid, json: { ...(valid.json as Vector), nonce: '7' } },
      /^json\.nonce: /,
    ],
    [
      'no JSON where some is due',
      { ...valid, json: {} },
      /^json\.protocolVersion: .* where nothing/,
    ],
    [
      'another verdict',
      { ...applied, conflict: 12 },
      /^conflict: 0 \(no conflict\) where 12 \(a chain/,
    ],
    ['a verdict that there is not', { ...applied, conflict: 255 }, /where 255 is expected/],
    ['another transaction ID', { ...applied, transactionId: id }, /^transactionId: /],
    ['inputs left out', { ...applied, inputs: [] }, /^failed with an error: the outputs given/],
    ['an input that is none', { ...applied, inputs: ['0x00'] }, /no pair/],
    ['an output that does not parse', { ...applied, inputs: [['0x00', '0x00']] }, /^refused: C-12/],
    [
      'another reason in the order',
      withReason(4),
      new RegExp(`^whiteFlagOrder\\.${transaction}\\.conflictReason: 0 where 4`),
    ],
    [
      'blocks left out',
      { ...whiteFlag, whiteFlagOrder: null },
      /^the previous milestone is not met/,
    ],
    [
      'an output left out of the ledger',
      { ...whiteFlag, ledgerInputs: null },
      /conflictReason: 3 where 0/,
    ],
    [
      'an output that is spent',
      { ...whiteFlag, ledgerInputs: null, inputsNotUnspentInLedger: spent() },
      /conflictReason: 1 where 0/,
    ],
    [
      'another root of a milestone',
      { ...whiteFlag, response: { inclusionMerkleRoot: id } },
      /^response\.inclusionMerkleRoot/,
    ],
    [
      'a block that does not parse',
      { ...whiteFlag, whiteFlagOrder: [{ ...order[0], raw: '0x02' }] },
      /block of the cone/,
    ],
    [
      'a proof of another block',
      { ...proofs[0], block: proofs[1]!.block },
      /^B\.13: proof of another block/,
    ],
    [
      'a proof for another milestone',
      { ...proofs[0], milestone: proofs[1]!.milestone },
      /another root/,
    ],
    [
      'a milestone with another timestamp',
      { ...proofs[0], milestone: { ...(proofs[0]!.milestone as Vector), timestamp: 1 } },
      /M-3/,
    ],
    ['no kind', { a: 1 }, /no kind of vector/],
    ['no object', [1], /not a JSON object/],
    ['null', null, /not a JSON object/],
    ['hex that is none', { block: '0xzz', valid: true }, /"block" is not hex/],
  ])('fail: %s', async (_, vector, sentence) => {
    expect((await run(vector)).failure).toMatch(sentence);
  });

  function withReason(conflictReason: number): Vector {
    return {
      ...whiteFlag,
      whiteFlagOrder: order.map((each, i) =>
        i === transaction ? { ...each, conflictReason } : each,
      ),
    };
  }

  function spent(): unknown[] {
    return (whiteFlag.ledgerInputs as Vector[]).map(({ outputId }) => outputId);
  }

  it('count an input that is not unspent as spent or as unknown', async () => {
    for (const [reason, passes] of [
      [1, true],
      [3, true],
      [2, false],
    ] as const) {
      const vector = {
        ...withReason(reason),
        ledgerInputs: null,
        inputsNotUnspentInLedger: spent(),
      };
      // the roots are others, but the order is looked at first
      const { failure } = await run(vector);
      expect(failure).toMatch(passes ? /^response\./ : /^whiteFlagOrder\./);
    }
  });

  it('fail: not JSON', async () => {
    expect((await runVector('{', README_PARAMETERS)).failure).toMatch(/^not JSON/);
  });
});

describe('files', () => {
  async function read(path: string) {
    return Array.fromAsync(readVectors(path));
  }
  const lines = '{"a":1}\n\n{"a":"ü"}\r\n';
  const expected = [
    { line: 1, json: '{"a":1}' },
    { line: 3, json: '{"a":"ü"}\r' },
  ];

  it('are read line by line, gzipped or not, whatever their name', async () => {
    expect(await read(file(lines))).toEqual(expected);
    expect(await read(file(gzipSync(lines)))).toEqual(expected);
    const long = `{"a":"${'x'.repeat(1_000_000)}"}`;
    expect(await read(file(`${long}\n${long}`))).toEqual([
      { line: 1, json: long },
      { line: 2, json: long },
    ]);
  });

  it('are one document where they look like one', async () => {
    const text = '{\n "a": 1\n}\n';
    expect(await read(file(text))).toEqual([{ line: 1, json: text }]);
    expect(await read(file('{ "a":\n1 }', 'json'))).toEqual([{ line: 1, json: '{ "a":\n1 }' }]);
  });

  it('reject when they break off', async () => {
    await expect(read(file(gzipSync('{}\n'.repeat(1000)).subarray(0, 20)))).rejects.toThrow(
      /unexpected end/,
    );
    await expect(read(join(folder, 'nowhere'))).rejects.toThrow(/ENOENT/);
    await expect(read(folder)).rejects.toThrow(/EISDIR/);
  });
});

describe('the command', () => {
  async function command(...args: string[]) {
    const { code, stdout, stderr } = await runCommand('conformance', ...args);
    return { code, out: stdout.trimEnd().split('\n'), error: stderr };
  }
  const good = file(
    semantics
      .slice(0, 3)
      .map((vector) => `${JSON.stringify(vector)}\n`)
      .join(''),
  );
  const bad = file(
    `{"leaves":1,"root":"0x00"}\n${JSON.stringify({ ...semantics[0], conflict: 0, name: 'spoilt' })}\n`,
  );

  it('counts, and exits with 0 if nothing failed', async () => {
    expect(await command(good)).toMatchObject({ code: 0, out: ['3 passed, 0 failed'] });
  });

  it('names what failed with its place, and exits with 1', async () => {
    const nowhere = join(folder, 'nowhere');
    const { code, out } = await command(bad, good, nowhere, file(''));
    expect(code).toBe(1);
    expect(out.length).toBe(5);
    expect(out[0]).toMatch(new RegExp(`^${bad}:1 1 leaves: root: `));
    expect(out[1]).toMatch(new RegExp(`^${bad}:2 spoilt: conflict: `));
    expect(out[2]).toMatch(new RegExp(`^${nowhere}: cannot be read: `));
    expect(out[3]).toMatch(/holds no vector/);
    expect(out[4]).toBe('3 passed, 4 failed');
  });

  it('takes protocol parameters as info.json has them', async () => {
    const { payloadId: _, ...withTransaction } = parsing.find(({ json }) => isTransaction(json))!;
    const vector = file(JSON.stringify(withTransaction));
    const { minPowScore, rentStructure, ...rest } = README_PARAMETERS;
    const protocol = {
      ...rest,
      minPowScore,
      rentStructure,
      tokenSupply: `${rest.tokenSupply}`,
      networkName: 'other',
    };
    const parameters = file(JSON.stringify({ name: 'HORNET', protocol }), 'json');
    const { code, out } = await command('--parameters', parameters, vector);
    expect(code).toBe(1);
    expect(out[0]).toMatch(/refused: C-13/);
    const wrong = file(JSON.stringify({ protocol: { ...protocol, tokenSupply: 5 } }), 'json');
    const failed = await command('--parameters', wrong, vector);
    expect(failed.code).toBe(2);
    expect(failed.error).toMatch(/protocol\.tokenSupply/);
  });

  it('exits with 2 when it is called wrongly', async () => {
    for (const args of [[], ['--unknown', good], ['--parameters', join(folder, 'nowhere'), good]]) {
      const { code, error } = await command(...args);
      expect(code).toBe(2);
      expect(error).toContain('--help describes the command line.');
    }
  });

  function isTransaction(json: unknown): boolean {
    return (json as { payload?: { type?: number } } | undefined)?.payload?.type === 6;
  }

  it('prints no control characters of a file', async () => {
    const hostile = { ...parsing[0], name: 'a\u001b[2Jb\u202ec', block: '0x00' };
    const { stdout } = await callCommand('conformance', file(JSON.stringify(hostile)));
    expect(stdout).toContain('a\\u{1b}[2Jb\\u{202e}c: ');
    for (const hidden of ['\u001b', '\u202e']) expect(stdout).not.toContain(hidden);
  });
});
