/**
 * The package of the protocol: packed, installed into an empty folder without a network, and used as
 * its README and its comments say, on every Node of this machine and in a bundle for browsers.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { createContext, Script } from 'node:vm';
import { getLibFiles, ts } from '@ts-morph/common';
import { build, transformSync } from 'esbuild';
import GithubSlugger from 'github-slugger';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { PROJECT } from '../../../cli/lib/project.ts';
import { findProgram } from '../../../cli/lib/runtime.js';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { ownerAt } from '../../../src/stardust/output.ts';
import { readSnapshot } from '../../../src/stardust/snapshot.ts';
import { decodeOutput } from '../../../src/stardust/wire/ids.ts';
import type { NftOutput } from '../../../src/stardust/wire/output.ts';
import { measureLibrary } from '../../../tools/build/library.ts';
import { madeSnapshot } from '../../support/cli/made-snapshot.ts';
import { temporaryFolder } from '../../support/cli/script-process.ts';
import { madeFinalLedger } from '../../support/final-ledger/made-ledger.ts';
import { recordedNode } from '../../support/http/recorded-node.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';
import { asFile } from '../../support/ledger/ledger-harness.ts';
import { milestoneAt } from '../../support/network/network-model.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';
import { readLines } from '../../support/vectors.ts';

const run = promisify(execFile);
const folder = temporaryFolder();
const built = join(folder, 'built');
const consumer = join(folder, 'consumer');
const installed = join(consumer, 'node_modules/@stardust-edge/protocol');

/** Old platforms have no functions for hex and base64; the Node of the tests has. */
const WITHOUT_NEW = ['Hex', 'Base64']
  .map((name) => `delete Uint8Array.prototype.to${name}; delete Uint8Array.from${name};`)
  .join(' ');

/** Tarballs of the folders. npm runs on any Node, and asks nobody. */
async function pack(sources: readonly string[]): Promise<string[]> {
  const args = ['pack', ...sources, '--json', '--ignore-scripts'];
  const { stdout } = await run('npm', args, { cwd: folder });
  const packed = JSON.parse(stdout) as { filename: string }[];
  return packed.map(({ filename }) => join(folder, filename));
}

let sizes = '';

beforeAll(async () => {
  const args = ['tools/build.ts', '--library', built];
  const repository = { GITHUB_SERVER_URL: 'https://git.example', GITHUB_REPOSITORY: 'a/b' };
  const env = { ...process.env, ...repository };
  sizes = (await run(process.execPath, args, { cwd: PROJECT, env })).stdout;
  const { dependencies } = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8'));
  const needed = Object.keys(dependencies).map((name) => join(PROJECT, 'node_modules', name));
  const tarballs = await pack([built, ...needed]);
  mkdirSync(consumer);
  writeFileSync(join(consumer, 'package.json'), '{"private":true,"type":"module"}');
  const flags = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  const cache = ['--cache', join(folder, 'cache')];
  await run('npm', ['install', ...flags, ...cache, ...tarballs], { cwd: consumer });
});

/** What is in the folders of PATH under a name. */
const findAll = (name: string) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .filter(existsSync);

/** Every Node of this machine, one of each version. */
async function findNodes(): Promise<Map<string, string>> {
  const nodes = new Map<string, string>();
  for (const path of [process.execPath, ...findAll('node')]) {
    const { stdout } = await run(path, ['--version']);
    if (!nodes.has(stdout.trim())) nodes.set(stdout.trim(), path);
  }
  return nodes;
}

/** Other runtimes, if this machine has them, and how they run a script. */
const OTHER_RUNTIMES = [
  ...findAll('bun').map((path) => ({ path, args: ['run'] })),
  ...findAll('deno').map((path) => ({ path, args: ['run', '--allow-all'] })),
];

const network = recordedNetwork('network-n');
const LEDGER_INDEX = 125;
const MADE_OUTPUTS = 150;
const made = await madeFinalLedger(MADE_OUTPUTS);

/** The last answer of inx-indexer about each NFT that was there at the end. */
const found = new Map(
  (readLines('network-n/nft.jsonl') as { nftId: string; status: number; items?: string[] }[]).map(
    ({ nftId, status, items }) => [nftId, status === 200 ? items![0]! : undefined],
  ),
);
const nfts = [...found].flatMap(([nftId, outputId]) => {
  const output = outputId === undefined ? undefined : network.outputs.get(outputId);
  return output === undefined ? [] : [{ nftId, outputId: outputId!, output }];
});

const fetchRecorded = fetchFrom({ node: await recordedNode(network, LEDGER_INDEX) });

/** @param asked what a node with the base `/again` is asked, too */
async function answer(asked: string): Promise<unknown> {
  const path = asked.replace(/^\/again/, '');
  const nft = /^\/api\/indexer\/v1\/outputs\/nft\/(.*)$/.exec(path);
  if (nft) return { ledgerIndex: LEDGER_INDEX, items: [found.get(nft[1]!)] };
  const final = /^\/api\/edge\/v1\/final\/(nfts|outputs)\/0x(.*)$/.exec(path);
  if (final) return made.ask(final[1] as 'nfts' | 'outputs', final[2]!);
  return (await fetchRecorded(path)).json();
}

/** A question to the functions of the README. */
interface Asked {
  node: string;
  publicKeys: string[];
  nftIds: string[];
  finalNftIds: string[];
  root: string;
  /** Of the ledger's milestone. */
  time: number;
  networkName: string;
}

const finalNftIds = [...made.keys.nfts.slice(0, 5), '5a'.repeat(32)].map((id) => `0x${id}`);
const asked: Asked = {
  node: 'http://127.0.0.1:1/',
  publicKeys: network.keys.keys.map(({ publicKey }) => toHex(publicKey)),
  nftIds: nfts.slice(0, 8).map(({ nftId }) => nftId),
  finalNftIds,
  root: toHex(made.root),
  time: milestoneAt(network, LEDGER_INDEX)!.timestamp,
  networkName: network.genesis.parameters.networkName,
};

const inHex = (_: string, value: unknown) => (value instanceof Uint8Array ? toHex(value) : value);

/** What was recorded, and what was made up: without any proof. */
async function expected(): Promise<unknown> {
  const ownerOf = (bytes: Uint8Array) => ownerAt(decodeOutput(bytes) as NftOutput, asked.time);
  const owners = nfts.slice(0, asked.nftIds.length).map(({ output }) => ({
    ...ownerOf(output.bytes),
    since: output.bookedIndex,
  }));
  const held = new Map<string, Uint8Array>();
  for await (const part of readSnapshot(asFile(madeSnapshot(MADE_OUTPUTS)), { kind: 'full' }))
    if (part.kind === 'output' && part.output.chainId !== undefined)
      held.set(toHex(part.output.chainId), part.output.bytes);
  const finals = finalNftIds.map((id) => (held.has(id) ? ownerOf(held.get(id)!) : null));
  return JSON.parse(JSON.stringify({ origins: owners, owners, finals }, inHex));
}

/** What runs where the package is installed. */
const MAIN = `
import { fromHex, toHex } from '@stardust-edge/protocol/bytes';
import { verifyFinalNft } from './verifyFinalNft.js';
import { verifyNft } from './verifyNft.js';
import { verifyOrigin } from './verifyOrigin.js';

export async function main({ node, publicKeys, nftIds, finalNftIds, root, time, networkName }) {
  const keys = publicKeys.map((key) => ({ publicKey: fromHex(key), first: 0, last: 0 }));
  const signers = { keys, threshold: 2 };
  const origins = [];
  for (const id of nftIds) origins.push(await verifyOrigin(node, id, signers, time));
  const nodes = [node, new URL('again', node).href];
  const options = { ...signers, nodes, networkName, now: () => time };
  const owners = [];
  for (const id of nftIds) owners.push(await verifyNft(options, id));
  const finals = [];
  for (const id of finalNftIds) finals.push((await verifyFinalNft(node, id, root, time)) ?? null);
  const inHex = (_, value) => (value instanceof Uint8Array ? toHex(value) : value);
  return JSON.stringify({ origins, owners, finals }, inHex);
}
`;

const README_PROGRAMS = ['verifyNft', 'verifyOrigin', 'verifyFinalNft'];

/** Writes the code of the README and of examples/, a module for each function, and what calls them. */
function writeReadmeCode(): void {
  const text = readFileSync(join(installed, 'README.md'), 'utf8');
  const blocks = Array.from(text.matchAll(/^```ts\n(.*?)^```/gms), ([, code]) => code!);
  for (const [name] of text.matchAll(/examples\/[\w-]+\.ts/g))
    blocks.push(readFileSync(join(PROJECT, name), 'utf8'));
  const names = blocks.map((code) => /^export async function (\w+)/m.exec(code)![1]);
  expect(names).toEqual(README_PROGRAMS);
  for (const [i, code] of blocks.entries()) {
    writeFileSync(join(consumer, `${names[i]}.ts`), code);
    writeFileSync(join(consumer, `${names[i]}.js`), transformSync(code, { loader: 'ts' }).code);
  }
  writeFileSync(join(consumer, 'main.js'), MAIN);
  const script =
    "import { main } from './main.js'; console.log(await main(JSON.parse(process.argv[2])));";
  writeFileSync(join(consumer, 'script.js'), script);
}

async function serve(): Promise<string> {
  const server = createServer(async (request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(await answer(request.url!)));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the README', () => {
  it('verifies NFTs on every Node of this machine, with and without functions for hex', async () => {
    writeReadmeCode();
    const questions = JSON.stringify({ ...asked, node: await serve() });
    const due = await expected();
    expect(asked.nftIds.length).toBe(8);
    for (const [version, path] of await findNodes()) {
      for (const before of ['', WITHOUT_NEW]) {
        const preload = `data:text/javascript,${encodeURIComponent(before)}`;
        const args = ['--import', preload, 'script.js', questions];
        const { stdout } = await run(path, args, { cwd: consumer });
        expect([version, JSON.parse(stdout)]).toEqual([version, due]);
      }
    }
  });

  it.each(OTHER_RUNTIMES)('verifies NFTs on $path', async ({ path, args }) => {
    writeReadmeCode();
    const questions = JSON.stringify({ ...asked, node: await serve() });
    const { stdout } = await run(path, [...args, 'script.js', questions], { cwd: consumer });
    expect(JSON.parse(stdout)).toEqual(await expected());
  });

  it('says what is false', async () => {
    writeReadmeCode();
    const node = await serve();
    const [first, second] = asked.nftIds;
    const ask = (changes: Partial<Asked>) =>
      run(process.execPath, ['script.js', JSON.stringify({ ...asked, node, ...changes })], {
        cwd: consumer,
      });
    const [key] = asked.publicKeys;
    await expect(ask({ publicKeys: [key!] })).rejects.toThrow('M-2: 1 keys may sign, threshold 2');
    const wrongRoot = { nftIds: [], root: `0x${'00'.repeat(32)}` };
    await expect(ask(wrongRoot)).rejects.toThrow('B.13: the roots and counts are not those');
    found.set(first!, found.get(second!));
    await expect(ask({})).rejects.toThrow('did not create this NFT output');
    found.set(first!, nfts[0]!.outputId);
  });

  it('runs in a bundle for browsers, with nothing but what browsers have', async () => {
    writeReadmeCode();
    const { outputFiles } = await build({
      entryPoints: [join(consumer, 'main.js')],
      bundle: true,
      minify: true,
      format: 'iife',
      globalName: 'bundle',
      platform: 'browser',
      target: ['chrome110', 'firefox110', 'safari16.4'],
      write: false,
    });
    const context = createContext({
      atob,
      btoa,
      TextEncoder,
      TextDecoder,
      URL,
      AbortController,
      setTimeout,
      clearTimeout,
      fetch: async (url: URL | string) =>
        new Response(JSON.stringify(await answer(new URL(url).pathname))),
    });
    new Script(`${WITHOUT_NEW} ${outputFiles[0]!.text}`).runInContext(context);
    context.asked = JSON.stringify(asked);
    const text = await new Script('bundle.main(JSON.parse(asked))').runInContext(context);
    expect(JSON.parse(text)).toEqual(await expected());
  });
});

/** Hex and base64 of bytes of many lengths, and what is none. Prints nothing if all is well. */
const ENCODINGS = `
import { strict as assert } from 'node:assert';
import { fromBase64, toBase64 } from '@stardust-edge/protocol/base64';
import { fromHex, toHex } from '@stardust-edge/protocol/bytes';

for (let length = 0; length < 300; length++) {
  const bytes = Uint8Array.from({ length }, (_, i) => (i * 7919 + length * 104729) >> 3);
  const buffer = Buffer.from(bytes);
  assert.equal(toHex(bytes), '0x' + buffer.toString('hex'));
  assert.deepEqual(fromHex('0X' + buffer.toString('hex').toUpperCase()), bytes);
  assert.equal(toBase64(bytes), buffer.toString('base64'));
  assert.deepEqual(fromBase64(buffer.toString('base64')), bytes);
}
for (const text of ['12', '0x1', '0x1g', '0x 1', '0x12 ', 'x'])
  assert.throws(() => fromHex(text), SyntaxError, text);
for (const text of ['A', 'AA=', 'AAA==', '!!!!', 'AA=A', 'AAAA=', '-_-_', 'AAé='])
  assert.throws(() => fromBase64(text), SyntaxError, text);
`;

/** What TypeScript 5.7, the oldest that reads the package's types, says of these files. */
function compileWithOldest(names: readonly string[]): string[] {
  expect(ts.version).toMatch(/^5\.7\./);
  const options: ts.CompilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
    types: [],
  };
  const libs = new Map(getLibFiles().map(({ fileName, text }) => [fileName, text]));
  const host = ts.createCompilerHost(options);
  const read = (name: string) =>
    name.startsWith('/lib/') ? libs.get(basename(name)) : ts.sys.readFile(name);
  host.getDefaultLibLocation = () => '/lib';
  host.fileExists = (name) => read(name) !== undefined;
  host.readFile = read;
  host.getSourceFile = (name, version) => {
    const text = read(name);
    return text === undefined ? undefined : ts.createSourceFile(name, text, version);
  };
  const files = names.map((name) => join(consumer, name));
  const found = ts.getPreEmitDiagnostics(ts.createProgram(files, options, host));
  return found.map(({ file, messageText }) => {
    const text = ts.flattenDiagnosticMessageText(messageText, '\n');
    return `${basename(file?.fileName ?? '')}: ${text}`;
  });
}

/** The same of the project's TypeScript. */
async function compileWithNewest(names: readonly string[], ...flags: string[]): Promise<string> {
  const strict =
    '--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --module nodenext --target es2022 --lib es2023,dom';
  const tsc = findProgram('typescript', 'tsc')!;
  const { stdout } = await run(process.execPath, [tsc, ...strict.split(' '), ...flags, ...names], {
    cwd: consumer,
  }).catch((error) => error);
  return stdout;
}

describe('the package', () => {
  it('reads and writes hex and base64 without the functions of 2025', async () => {
    writeFileSync(join(consumer, 'encodings.js'), ENCODINGS);
    for (const [version, path] of await findNodes())
      for (const before of ['', WITHOUT_NEW]) {
        const preload = `data:text/javascript,${encodeURIComponent(before)}`;
        const { stdout } = await run(path, ['--import', preload, 'encodings.js'], {
          cwd: consumer,
        });
        expect([version, stdout]).toEqual([version, '']);
      }
  });

  it('can be published, with its changes', async () => {
    const { stdout } = await run('npm', ['publish', '--dry-run', '--offline', built]);
    const { name, version } = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8'));
    expect(stdout).toBe(`+ ${name}@${version}\n`);
    expect(readFileSync(join(installed, 'CHANGELOG.md'), 'utf8')).toContain(`\n## ${version} - `);
  });

  it('has what its exports name, and imports nothing but its dependencies', () => {
    const { exports, dependencies, type, sideEffects, repository } = JSON.parse(
      readFileSync(join(installed, 'package.json'), 'utf8'),
    );
    expect([type, sideEffects]).toEqual(['module', false]);
    expect(repository.url).toBe('git+https://git.example/a/b.git');
    for (const path of Object.values(exports) as string[]) {
      expect(existsSync(join(installed, path))).toBe(true);
      if (path.endsWith('.js'))
        expect(existsSync(join(installed, path.replace(/js$/, 'd.ts')))).toBe(true);
    }
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
    expect(files.filter((name) => /(?<!\.d)\.ts$/.test(name))).toEqual([]);
    const imported = new Set<string>();
    for (const name of files.filter((each) => /\.(?:js|d\.ts)$/.test(each))) {
      const text = readFileSync(join(installed, name), 'utf8').replaceAll(/\/\*.*?\*\//gs, '');
      for (const [, target] of text.matchAll(/(?:from |import\()['"]([^'"]+)['"]/g)) {
        if (!target!.startsWith('.')) imported.add(target!.split('/').slice(0, 2).join('/'));
        else expect(existsSync(join(installed, name, '..', target!))).toBe(true);
      }
    }
    expect([...imported].sort()).toEqual(Object.keys(dependencies).sort());
  });

  it('is small: a proof takes at most 30 KB', async () => {
    const measured = await measureLibrary(built);
    const proof = measured.find(({ subpath }) => subpath.endsWith('/proof'))!;
    expect(proof.gzipped).toBeGreaterThan(10_000);
    expect(proof.gzipped).toBeLessThan(30_000);
    for (const { gzipped } of measured) expect(sizes).toContain(`${gzipped} gzipped`);
    const readme = readFileSync(join(installed, 'README.md'), 'utf8');
    for (const [, name, kilobytes] of readme.matchAll(/^- `(\/[\w-]+)` \((\d+) KB\)/gm)) {
      const { gzipped } = measured.find(({ subpath }) => subpath.endsWith(name!))!;
      expect([name, Math.abs(gzipped / 1000 - Number(kilobytes)) < 1]).toEqual([name, true]);
    }
    expect(measured.map(({ subpath }) => subpath)).toHaveLength(sizes.trim().split('\n').length);
  });

  it('has examples that compile, and print what they say', async () => {
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
    const examples = files
      .filter((name) => name.endsWith('.d.ts'))
      .flatMap((name) =>
        Array.from(
          readFileSync(join(installed, name), 'utf8').matchAll(/@example\s+\* ```ts\n(.*?)```/gs),
          ([, code]) => code!.replaceAll(/^ *\* ?/gm, ''),
        ),
      );
    expect(examples.length).toBeGreaterThan(10);
    for (const [i, code] of examples.entries())
      writeFileSync(join(consumer, `example-${i}.ts`), code);
    const sources = examples.map((_, i) => `example-${i}.ts`);
    const types = ['--types', 'node', '--typeRoots', join(PROJECT, 'node_modules/@types')];
    expect(await compileWithNewest(sources, ...types)).toBe('');
    for (const [i, code] of examples.entries()) {
      const printed = Array.from(
        code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm),
        ([, said]) => said,
      );
      const { stdout } = await run('node', [`example-${i}.js`], { cwd: consumer });
      expect(stdout.trim()).toBe(printed.join('\n'));
    }
  });

  it('has programs in its README that compile with TypeScript 5.7 and 7', {
    timeout: 900_000,
  }, async () => {
    writeReadmeCode();
    const mistakes = {
      // of the README before: the final root has no time
      'no-time.ts': `import { ownerAt } from '@stardust-edge/protocol/output';
import { createVerifier, type VerifierOptions } from '@stardust-edge/protocol/verifier';
export async function owner(options: VerifierOptions, nftId: string) {
  const found = await createVerifier(options).nft(nftId);
  if (found.standing === 'held') return ownerAt(found.output, found.asOf.timestamp);
  return undefined;
}`,
      'no-since.ts': `import { createVerifier, type VerifierOptions } from '@stardust-edge/protocol/verifier';
export async function since(options: VerifierOptions, nftId: string): Promise<number> {
  const found = await createVerifier(options).nft(nftId, { atLeast: 'claimed' });
  return found.since.milestoneIndex;
}`,
    };
    for (const [name, code] of Object.entries(mistakes)) writeFileSync(join(consumer, name), code);
    const programs = README_PROGRAMS.map((name) => `${name}.ts`);
    expect(compileWithOldest(programs)).toEqual([]);
    expect(await compileWithNewest(programs, '--noEmit')).toBe('');
    for (const [name, message] of [
      ['no-time.ts', /'timestamp' does not exist/],
      ['no-since.ts', /possibly 'undefined'/],
    ] as const) {
      expect(compileWithOldest([name]).join()).toMatch(message);
      expect(await compileWithNewest([name], '--noEmit')).toMatch(message);
    }
  });

  it('has the documents that its README, types and errors name', () => {
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
    const cited = new Set<string>();
    for (const name of files.filter(
      (each) => /\.(?:js|d\.ts|md)$/.test(each) && !/^docs/.test(each),
    ))
      for (const [place] of readFileSync(join(installed, name), 'utf8').matchAll(
        /docs\/[\w-]+\.md(?:#[\w-]+)?/g,
      ))
        cited.add(place);
    expect(cited.size).toBeGreaterThan(5);
    for (const place of cited) {
      const [document, section] = place.split('#') as [string, string?];
      const text = readFileSync(join(installed, document), 'utf8');
      const slugger = new GithubSlugger();
      const sections = Array.from(text.matchAll(/^#+ (.*)$/gm), ([, title]) =>
        slugger.slug(title!),
      );
      if (section !== undefined) expect(sections).toContain(section);
    }
  });

  it('has the keys of known networks, as its verifier takes them', async () => {
    const script = `
      import { findKnownNetwork } from '@stardust-edge/protocol/networks';
      import { createVerifier } from '@stardust-edge/protocol/verifier';
      import { optionsOf } from './verifyNft.js';
      for (const name of ['shimmer', 'iota-mainnet']) {
        const options = optionsOf(name, ['https://a.example', 'https://b.example']);
        createVerifier(options);
        console.log(name, options.keys.length, findKnownNetwork(name).threshold);
      }`;
    writeReadmeCode();
    writeFileSync(join(consumer, 'networks.js'), script);
    const { stdout } = await run('node', ['networks.js'], { cwd: consumer });
    expect(stdout).toBe('shimmer 10 7\niota-mainnet 10 7\n');
  });
});
