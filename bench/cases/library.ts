/**
 * The protocol as a library (src/stardust/README.md) beside the clients of IOTA: @iota/iota.js, and
 * @iota/sdk-wasm, which is the SDK in Rust as WebAssembly. What each computes is asserted before it is
 * timed. A client is left out where it has no such function.
 */
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { deserializeBlock, serializeBlock, TransactionHelper } from '@iota/iota.js';
import { type Block, type Ed25519Signature, Utils } from '@iota/sdk-wasm/node/lib/index.js';
import { PROJECT } from '../../cli/lib/project.ts';
import { readSampleMilestone } from '../../cli/start/sample.ts';
import {
  blockFromJson,
  blockId,
  blockToJson,
  decodeBlock,
  encodeBlock,
} from '../../src/stardust/block.ts';
import { verifyEd25519, verifyZip215, webCrypto } from '../../src/stardust/crypto/ed25519.ts';
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import { decodeMilestone, type VerifySignature } from '../../src/stardust/milestone.ts';
import { nftIdOf } from '../../src/stardust/output.ts';
import { verifyInclusion } from '../../src/stardust/proof.ts';
import { findKnownNetwork } from '../../src/stardust/verifier/known-networks.ts';
import { keyPair } from '../../test/support/payloads/keys.ts';
import { nft } from '../../test/support/payloads/outputs.ts';
import type { Bench, BenchCase } from '../case.ts';

/** What iota.js is made of; its own packages have no types for ESM. */
const require = createRequire(import.meta.url);
const { Blake2b, Ed25519 } = require('@iota/crypto.js') as {
  Blake2b: { sum256(bytes: Uint8Array): Uint8Array };
  Ed25519: { verify(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean };
};
const { ReadStream, WriteStream } = require('@iota/util.js') as {
  ReadStream: new (bytes: Uint8Array) => Parameters<typeof deserializeBlock>[0];
  WriteStream: new () => Parameters<typeof serializeBlock>[0] & { finalBytes(): Uint8Array };
};

type Contender = 'this library' | 'iota.js' | 'sdk-wasm';

/** As callers may choose it. */
type Variant = Contender | 'this library with WebCrypto';

const platform = webCrypto(crypto.subtle);
const verifyFast: VerifySignature = (...signed) => verifyEd25519(...signed, platform);

interface Operation {
  name: string;
  /** Throws unless a result is right. */
  assertRight(result: unknown): void;
  by: Partial<Record<Variant, () => unknown>>;
}

const mustBe = (due: unknown) => (result: unknown) => assert.equal(result, due);

/** A block of Shimmer: of those with a transaction in the sample the one of median length. */
function sampleBlock(): Uint8Array {
  const blocks = readSampleMilestone(17339)
    .blocks.map(fromHex)
    .filter((bytes) => decodeBlock(bytes).transaction !== undefined)
    .sort((one, other) => one.length - other.length);
  return blocks[blocks.length >> 1]!;
}

function operations(): Operation[] {
  const bytes = sampleBlock();
  const json = blockToJson(decodeBlock(bytes).block);
  // both have types of their own for the same JSON
  const theirJson = JSON.parse(JSON.stringify(json)) as Parameters<typeof serializeBlock>[1];
  const sdkJson = theirJson as unknown as Block;
  const iotaBytes = () => {
    const stream = new WriteStream();
    serializeBlock(stream, theirJson);
    return stream.finalBytes();
  };
  const id = toHex(blockId(bytes));
  const outputId = `0x${'5a'.repeat(32)}0100`;
  const [minted, at] = [nft(keyPair('owner')), fromHex(outputId)];
  const signed = decodeMilestone(fromHex(readSampleMilestone(17339).payload));
  const { publicKey, signature } = signed.value.signatures[0]!;
  const theirSignature = {
    type: 0,
    publicKey: toHex(publicKey),
    signature: toHex(signature),
  } as unknown as Ed25519Signature;
  const message = toHex(signed.id);
  const proofFile = join(PROJECT, 'test/vectors/proofs/shimmer-3857880.json');
  const file = JSON.parse(readFileSync(proofFile, 'utf8')) as { blockId: string };
  const { keys, threshold } = findKnownNetwork('shimmer')!;
  return [
    {
      name: 'block ID of bytes',
      assertRight: mustBe(id),
      by: {
        'this library': () => toHex(blockId(bytes)),
        'iota.js': () => toHex(Blake2b.sum256(bytes)),
      },
    },
    {
      name: 'block ID of JSON',
      assertRight: mustBe(id),
      by: {
        'this library': () => toHex(blockId(encodeBlock(blockFromJson(json)))),
        'iota.js': () => TransactionHelper.calculateBlockId(theirJson),
        'sdk-wasm': () => Utils.blockId(sdkJson),
      },
    },
    {
      name: 'parse',
      // either has its nonce, which comes last
      assertRight: (result) => assert.equal(String(nonceOf(result)), theirJson.nonce),
      by: {
        'this library': () => decodeBlock(bytes),
        'iota.js': () => deserializeBlock(new ReadStream(bytes)),
      },
    },
    {
      name: 'bytes to JSON',
      // whatever order its fields have
      assertRight: (result) => assert.deepEqual(JSON.parse(JSON.stringify(result)), theirJson),
      by: {
        'this library': () => blockToJson(decodeBlock(bytes).block),
        'iota.js': () => deserializeBlock(new ReadStream(bytes)),
      },
    },
    {
      name: 'JSON to bytes',
      assertRight: mustBe(toHex(bytes)),
      by: {
        'this library': () => toHex(encodeBlock(blockFromJson(json))),
        'iota.js': () => toHex(iotaBytes()),
        'sdk-wasm': () => toHex(Uint8Array.from(Utils.blockBytes(sdkJson))),
      },
    },
    {
      name: 'NFT ID',
      assertRight: mustBe(nftIdByDefinition(at)),
      by: {
        'this library': () => toHex(nftIdOf(minted, at)),
        'iota.js': () => TransactionHelper.resolveIdFromOutputId(outputId),
        'sdk-wasm': () => Utils.computeNftId(outputId),
      },
    },
    {
      name: 'signature, Ed25519',
      assertRight: mustBe(true),
      by: {
        'this library': () => verifyZip215(publicKey, signed.id, signature),
        'this library with WebCrypto': () =>
          verifyEd25519(publicKey, signed.id, signature, platform),
        'iota.js': () => Ed25519.verify(publicKey, signed.id, signature),
        'sdk-wasm': () => Utils.verifyEd25519Signature(theirSignature, message),
      },
    },
    {
      name: 'proof of a block, 10 signatures',
      assertRight: mustBe(file.blockId),
      by: {
        'this library': async () =>
          toHex((await verifyInclusion(file, { keys, threshold })).blockId),
        'this library with WebCrypto': async () =>
          toHex((await verifyInclusion(file, { keys, threshold }, verifyFast)).blockId),
      },
    },
  ];
}

function nonceOf(parsed: unknown): unknown {
  const { block, nonce } = parsed as { block?: { nonce: bigint }; nonce?: string };
  return block?.nonce ?? nonce;
}

/** B.6: the hash of the output ID. */
function nftIdByDefinition(outputId: Uint8Array): string {
  return toHex(Blake2b.sum256(outputId));
}

/** Rounds in which each contender is timed in its turn, for at least so many milliseconds. */
const ROUNDS = 40;
const TURN_MS = 2;

/** Milliseconds of a run. */
async function timeTurn(work: () => unknown, leastMs: number): Promise<number> {
  const start = performance.now();
  let runs = 0;
  let passed = 0;
  for (; passed < leastMs; passed = performance.now() - start, runs++) await work();
  return passed / runs;
}

/** Milliseconds of a run, warm: of each one's fastest turn, as other work only makes one late. */
async function timeEach(works: readonly (() => unknown)[]): Promise<number[]> {
  const fastest = works.map(() => Number.POSITIVE_INFINITY);
  for (const work of works) await timeTurn(work, 100);
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, work] of works.entries())
      fastest[i] = Math.min(fastest[i]!, await timeTurn(work, TURN_MS));
  return fastest;
}

/** What a page loads for all that is timed here, as code of a module. */
const LOADED = {
  'this library': `
    export { blockFromJson, blockId, blockToJson, decodeBlock, encodeBlock } from './src/stardust/block.ts';
    export { verifyZip215 } from './src/stardust/crypto/ed25519.ts';
    export { fromHex, toHex } from './src/stardust/encoding/bytes.ts';
    export { nftIdOf } from './src/stardust/output.ts';
    export { verifyInclusion } from './src/stardust/proof.ts';`,
  'iota.js': `
    export { deserializeBlock, serializeBlock, TransactionHelper } from '@iota/iota.js';
    export { Blake2b, Ed25519 } from '@iota/crypto.js';
    export { Converter, ReadStream, WriteStream } from '@iota/util.js';`,
  'sdk-wasm': `export { default as init, Utils } from '@iota/sdk-wasm/web';`,
} satisfies Record<Contender, string>;

/** The binary that sdk-wasm also loads. */
const WASM = join(PROJECT, 'node_modules/@iota/sdk-wasm/web/wasm/iota_sdk_wasm_bg.wasm');

/** What computes the ID of a block, its bytes or its JSON, from the module that was loaded. */
const FIRST: Record<Contender, string> = {
  'this library': '({ blockId, fromHex, toHex }, { hex }) => toHex(blockId(fromHex(hex)))',
  'iota.js':
    '({ Blake2b, Converter }, { hex }) => Converter.bytesToHex(Blake2b.sum256(Converter.hexToBytes(hex)), true)',
  'sdk-wasm': '({ Utils }, { json }) => Utils.blockId(json)',
};

/** @param format modules for a page, or what Node loads */
async function bundle(contender: Contender, format: 'esm' | 'cjs'): Promise<Uint8Array> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    stdin: { contents: LOADED[contender], resolveDir: PROJECT, loader: 'ts' },
    bundle: true,
    minify: true,
    format,
    platform: format === 'esm' ? 'browser' : 'node',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'error',
    write: false,
  });
  return outputFiles[0]!.contents;
}

/** Kilobytes, gzipped. */
async function loadedBytes(contender: Contender): Promise<number> {
  const files = [await bundle(contender, 'esm')];
  if (contender === 'sdk-wasm') files.push(readFileSync(WASM));
  return files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0) / 1000;
}

/** Milliseconds from loading the module to the first ID, in a process of its own each time: of the fastest. */
async function timeFirst(contender: Contender, folder: string): Promise<number> {
  // sdk-wasm reads its binary from where it is
  const isBundled = contender !== 'sdk-wasm';
  const module = isBundled ? join(folder, `${contender}.cjs`) : '@iota/sdk-wasm/node/lib/index.js';
  if (isBundled) writeFileSync(module, await bundle(contender, 'cjs'));
  const bytes = sampleBlock();
  const block = { hex: toHex(bytes), json: blockToJson(decodeBlock(bytes).block) };
  const script = `
    const block = ${JSON.stringify(block)};
    const first = ${FIRST[contender]};
    const start = performance.now();
    const id = first(await import(${JSON.stringify(module)}), block);
    console.log(JSON.stringify({ id, ms: performance.now() - start }));`;
  const times = Array.from({ length: 7 }, () => {
    const args = ['--input-type=module', '--eval', script];
    const printed = execFileSync(process.execPath, args, { cwd: PROJECT, encoding: 'utf8' });
    const { id, ms } = JSON.parse(printed) as { id: string; ms: number };
    assert.equal(id, toHex(blockId(bytes)));
    return ms;
  });
  return Math.min(...times);
}

async function run({ report }: Bench): Promise<void> {
  report({ name: 'bytes of the block', value: sampleBlock().length, unit: '' });
  for (const { name, assertRight, by } of operations()) {
    for (const work of Object.values(by)) assertRight(await work());
    const times = await timeEach(Object.values(by));
    for (const [i, contender] of Object.keys(by).entries())
      report({ name: `${name}, ${contender}`, value: 1000 * times[i]!, unit: 'µs' });
  }
  const folder = mkdtempSync(join(tmpdir(), 'library-'));
  try {
    for (const contender of Object.keys(LOADED) as Contender[]) {
      const kilobytes = await loadedBytes(contender);
      report({ name: `loaded by a page, gzipped, ${contender}`, value: kilobytes, unit: 'KB' });
      const first = await timeFirst(contender, folder);
      report({
        name: `from loading to the first block ID, ${contender}`,
        value: first,
        unit: 'ms',
      });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const libraryCases: readonly BenchCase[] = [
  {
    name: 'library',
    about:
      'A block of Shimmer, warm, beside other libraries; what they load, and how soon they are ready.',
    run,
  },
];
