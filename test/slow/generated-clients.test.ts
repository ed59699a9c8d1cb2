/**
 * Clients that generators make of openapi.json: hey-api and orval in TypeScript,
 * openapi-python-client in Python. Each operation is called through each of them, against the
 * sample, and says what the node says. What `openapi-typescript` makes is compiled by
 * test/clients/developers.test.ts.
 *
 * The generators are installed for the test alone, from the lockfiles of generated-clients/.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROJECT } from '../../cli/lib/project.ts';
import { readNetwork } from '../../cli/start/sample.ts';
import { type SampleWorker, serveSample } from '../support/edge/sample.ts';
import { tellSkipped } from '../support/tools.ts';

const OPEN_API = join(PROJECT, 'src/http/openapi/openapi.json');
const OWN = join(PROJECT, 'test/slow/generated-clients');

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  example?: unknown;
}
interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: { 'application/json': { example?: unknown } } };
}
const { paths } = JSON.parse(readFileSync(OPEN_API, 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};

interface Call {
  url: string;
  path: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
}
interface Answer {
  status: number;
  body: unknown;
}

/** By operation ID. */
const calls: Record<string, Call> = {};
const expected: Record<string, Answer> = {};

const folder = mkdtempSync(join(tmpdir(), 'generated-clients-'));
const run = promisify(execFile);
const options = { cwd: folder, maxBuffer: 1 << 26 };

/** A generator that cannot be installed is skipped, but not where REQUIRE_TOOLS is set. */
async function install(name: string, commands: readonly (readonly string[])[]): Promise<boolean> {
  try {
    for (const [command, ...args] of commands) await run(command!, args, options);
    return true;
  } catch (error) {
    if (process.env.REQUIRE_TOOLS) throw error;
    tellSkipped(`${name} cannot be installed here; its clients are not tried`);
    return false;
  }
}

cpSync(OWN, folder, { recursive: true });
const PYTHON = join(folder, 'venv/bin/python');
const [hasNpm, hasPython] = await Promise.all([
  install('hey-api, orval', [['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund']]),
  install('openapi-python-client', [
    ['python3', '-m', 'venv', 'venv'],
    [PYTHON, '-m', 'pip', 'install', '--quiet', '--no-deps', '--requirement', 'requirements.txt'],
  ]),
]);

let worker: SampleWorker;

/** As a program reads it that has no generated client. */
async function ask(url: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await fetch(url + path, {
    ...(body !== undefined && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.includes('json');
  return { status: answer.status, body: isJson ? JSON.parse(text) : text };
}

/** What the document has no example for, taken from the node itself. */
async function findArguments({
  indexed,
  ended,
  keyed,
}: Record<'indexed' | 'ended' | 'keyed', string>): Promise<Record<string, Partial<Call>>> {
  const idOf = async (kind: string, type: number, name: string) => {
    const { body } = await ask(indexed, `/api/indexer/v1/outputs/${kind}`);
    for (const outputId of (body as { items: string[] }).items) {
      const read = await ask(indexed, `/api/core/v2/outputs/${outputId}`);
      const { output } = read.body as { output: Record<string, unknown> };
      expect(output.type).toBe(type);
      if (/[1-9a-f]/.test(String(output[name]).slice(2))) return output[name];
    }
    return `0x${'00'.repeat(kind === 'foundry' ? 38 : 32)}`;
  };
  const nftId = paths['/api/edge/v1/nfts/{nftId}']!.get!.parameters![0]!.example;
  const { body: held } = await ask(ended, '/api/indexer/v1/outputs/nft?pageSize=1');
  const [outputId] = (held as { items: string[] }).items;
  const { body: nfts } = await ask(worker.url, `/api/edge/v1/nfts/${nftId}`);
  const { body: proof } = await ask(
    worker.url,
    paths['/api/poi/v1/create/{blockId}']!.get!.parameters!.reduce(
      (path, { name, example }) => path.replace(`{${name}}`, String(example)),
      '/api/poi/v1/create/{blockId}',
    ),
  );
  return {
    lookUpAlias: { path: { aliasId: await idOf('alias', 4, 'aliasId') } },
    lookUpFoundry: { path: { foundryId: await idOf('foundry', 5, 'foundryId') } },
    readNftCertificate: { path: { nftId }, query: { milestone: 17_339 } },
    proveFinalOutput: { path: { outputId } },
    proveFinalNft: { path: { nftId } },
    stateAddress: { path: { address: (nfts as { owner: { address: string } }).owner.address } },
    readExplorerFile: { path: { file: 'app.js' } },
    validateProof: { url: keyed, body: proof },
    readMetrics: { url: ended },
    readHealth: { url: ended },
  };
}

beforeAll(async () => {
  worker = await serveSample();
  const { milestonePublicKeys, milestoneThreshold } = readNetwork();
  const [indexed, ended, keyed] = [
    await worker.startIndexed(),
    await worker.startEnded(),
    await worker.startEmpty({
      MILESTONE_PUBLIC_KEYS: milestonePublicKeys.join(),
      MILESTONE_THRESHOLD: String(milestoneThreshold),
    }),
  ];
  const found = await findArguments({ indexed, ended, keyed });
  for (const [template, methods] of Object.entries(paths))
    for (const { operationId, parameters = [], requestBody } of Object.values(methods)) {
      const examples = (place: Parameter['in']) =>
        Object.fromEntries(
          parameters
            .filter((each) => each.in === place && each.example !== undefined)
            .map(({ name, example }) => [name, example]),
        );
      const isFinal = template.includes('/final');
      const isOfIndex = /Alias|Foundr|Outputs$/.test(operationId);
      const call = {
        url: isFinal ? ended : isOfIndex ? indexed : worker.url,
        path: examples('path'),
        query: examples('query'),
        body: requestBody?.content['application/json'].example ?? null,
        ...found[operationId],
      };
      calls[operationId] = call;
      const path = template.replaceAll(/\{(\w+)\}/g, (_, name) => String(call.path[name]));
      const query = new URLSearchParams(
        Object.entries(call.query).map(([name, value]) => [name, String(value)]),
      );
      expected[operationId] = await ask(
        call.url,
        query.size > 0 ? `${path}?${query}` : path,
        call.body ?? undefined,
      );
    }
  writeFileSync(join(folder, 'calls.json'), JSON.stringify(calls));
});
afterAll(async () => {
  await worker?.stop();
  rmSync(folder, { recursive: true });
});

it('each operation has a real answer of the sample', () => {
  const others = Object.entries(expected).filter(([, { status }]) => status !== 200);
  // the sample has no foundry, and events come by WebSockets
  expect(others.map(([name, { status }]) => [name, status])).toEqual([
    ['lookUpFoundry', 404],
    ['connectToEvents', 400],
  ]);
});

/** Compiles a program of typed calls strictly, runs it, and returns what it prints. */
async function runProgram(code: string): Promise<Record<string, Answer>> {
  writeFileSync(join(folder, 'program.ts'), code);
  const flags = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'es2022'];
  const modules = [
    '--module',
    'esnext',
    '--moduleResolution',
    'bundler',
    '--lib',
    'es2022,dom,dom.iterable',
  ];
  await run(
    process.execPath,
    ['node_modules/typescript/bin/tsc', ...flags, ...modules, 'program.ts'],
    options,
  ).catch(({ stdout }: { stdout: string }) => {
    throw new Error(stdout);
  });
  const outfile = join(folder, 'program.mjs');
  const entryPoints = [join(folder, 'program.ts')];
  await build({ entryPoints, outfile, bundle: true, format: 'esm', platform: 'node' });
  const { stdout } = await run(process.execPath, [outfile], options);
  return JSON.parse(stdout) as Record<string, Answer>;
}

const PRINT = `
const answers: Record<string, { status: number; body: unknown }> = {};
const keep = async (name: string, call: Promise<{ status: number; body: unknown }>) => {
  const { status, body } = await call;
  // of a picture, and by orval where there are two kinds of content
  const text = body instanceof Blob ? await body.text() : '';
  const read = body instanceof Blob && body.type.includes('json') ? JSON.parse(text) : text;
  answers[name] = { status, body: body instanceof Blob ? read : body };
};`;

/** What a client leaves of answers without a body, or with one that it does not read. */
function expectAnswers(found: Record<string, Answer>, unread: readonly string[]): void {
  const bodyless = (body: unknown) => {
    if (body === '' || body === null || JSON.stringify(body) === '{}') return undefined;
    // an age of a metric
    return typeof body === 'string' ? body.replaceAll(/ [\d.]+$/gm, '') : body;
  };
  const comparable = (answers: Record<string, Answer>) =>
    Object.fromEntries(
      Object.entries(answers).map(([name, { status, body }]) => [
        name,
        { status, body: unread.includes(name) ? undefined : bodyless(body) },
      ]),
    );
  expect(Object.keys(found)).toEqual(Object.keys(expected));
  expect(comparable(found)).toEqual(comparable(expected));
}

describe.runIf(hasNpm)('a client in TypeScript', () => {
  it('by hey-api has each answer', async () => {
    const cli = 'node_modules/@hey-api/openapi-ts/bin/run.js';
    const flags = ['-i', OPEN_API, '-o', 'heyapi', '-c', '@hey-api/client-fetch'];
    await run(process.execPath, [cli, ...flags], options);
    const lines = Object.entries(calls).map(([name, { url, path, query, body }]) => {
      const given = {
        baseUrl: url,
        ...(Object.keys(path).length > 0 && { path }),
        ...(Object.keys(query).length > 0 && { query }),
        ...(body !== null && { body }),
      };
      return `await keep('${name}', sdk.${name}(${JSON.stringify(given)}).then(
  ({ response, data, error }) => ({ status: response!.status, body: data ?? error })));`;
    });
    const head = `import * as sdk from './heyapi/sdk.gen';${PRINT}`;
    const code = [head, ...lines, 'console.log(JSON.stringify(answers));'].join('\n');
    expectAnswers(await runProgram(code), []);
  });

  it('by orval has each answer', async () => {
    writeFileSync(
      join(folder, 'orval.config.mjs'),
      `export default { edge: {
        input: { target: ${JSON.stringify(OPEN_API)} },
        output: { target: './orval.ts', client: 'fetch', baseUrl: 'http://node.invalid' },
      } };`,
    );
    const cli = 'node_modules/orval/dist/bin/orval.mjs';
    await run(process.execPath, [cli, '--config', 'orval.config.mjs'], options);
    const lines = Object.entries(calls).map(([name, { url, path, query, body }]) => {
      const given = [...Object.values(path), body, Object.keys(query).length > 0 ? query : null];
      const args = given.filter((each) => each !== null).map((each) => JSON.stringify(each));
      return `node = '${url}';
await keep('${name}', sdk.${name}(${args}).then(({ status, data }) => ({ status, body: data })));`;
    });
    const head = `import * as sdk from './orval';${PRINT}
let node = '';
const send = globalThis.fetch;
globalThis.fetch = (input, init) => send(String(input).replace('http://node.invalid', node), init);`;
    const code = [head, ...lines, 'console.log(JSON.stringify(answers));'].join('\n');
    expectAnswers(await runProgram(code), []);
  });
});

it.runIf(hasPython)('a client in Python has each answer', async () => {
  const tool = ['-m', 'openapi_python_client', 'generate', '--path', OPEN_API];
  await run(PYTHON, [...tool, '--output-path', 'edge', '--meta', 'none'], options);
  const { stdout } = await run(PYTHON, ['drive.py', 'calls.json'], options);
  // of any type: its body is in `content`, not in what is parsed
  const unread = ['readExplorerFile', 'readIcon'];
  expectAnswers(JSON.parse(stdout) as Record<string, Answer>, unread);
});
