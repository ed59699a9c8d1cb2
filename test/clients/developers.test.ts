/**
 * The programs of examples/, the commands of docs/developers.md and the requests of README.md,
 * against the sample: programs compile, and print what docs/developers.md says.
 */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ts } from '@ts-morph/common';
import openapiTypescript from 'openapi-typescript/package.json' with { type: 'json' };
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { PROJECT } from '../../cli/lib/project.ts';
import { listen } from '../support/edge/launch.ts';
import { type SampleWorker, serveSample } from '../support/edge/sample.ts';
import { hasTool } from '../support/tools.ts';

const README = readFileSync(join(PROJECT, 'README.md'), 'utf8');
const DOCUMENT = readFileSync(join(PROJECT, 'docs/developers.md'), 'utf8');
const NODE_URL = 'http://127.0.0.1:8787';

/** In `dist`, so that programs find the packages of the project. */
mkdirSync(join(PROJECT, 'dist'), { recursive: true });
const folder = mkdtempSync(join(PROJECT, 'dist', 'developers-'));

interface Program {
  title: string;
  file: string;
  code: string;
  output: string;
}

/** Those that end: a section names the program, and then has its output, or says that it is the first one's. */
function programsIn(extension: 'ts' | 'py'): Program[] {
  const inSection = new RegExp(
    `^## (.+)\\n(?:(?!## ).*\\n)*?.*\\]\\(\\.\\./(examples/[\\w-]+\\.${extension})\\)(?:(?:(?!## ).*\\n)*?\`{3}text\\n([\\s\\S]*?)^\`{3}| prints the same as iota\\.js)`,
    'gm',
  );
  return Array.from(DOCUMENT.matchAll(inSection), ([, title, path, output], i) => ({
    title: title!,
    file: `program-${i}.${extension}`,
    code: readFileSync(join(PROJECT, path!), 'utf8'),
    output: output ?? programs[0]!.output,
  }));
}

const programs = programsIn('ts');
const pythonPrograms = programsIn('py');

let worker: SampleWorker;

beforeAll(async () => {
  worker = await serveSample();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await worker?.stop();
});

/** What a program prints with another URL of the node. Rejects if it fails. */
async function run({ code, file }: Program, url: string): Promise<string> {
  expect(code).toContain(NODE_URL);
  const path = join(folder, `running-${file}`);
  writeFileSync(path, code.replaceAll(NODE_URL, url));
  const interpreter = file.endsWith('.py') ? 'python3' : process.execPath;
  const { stdout } = await promisify(execFile)(interpreter, [path]);
  return stdout;
}

const requests = Array.from(
  README.matchAll(/^```sh\n((?:(?!```).*\n)+)```\n\n```json\n([\s\S]*?)^```/gm),
  ([, command, answer]) => ({ command: command!, answer: answer! }),
);

it('README.md has two requests', () => {
  expect(requests).toHaveLength(2);
});

it.runIf(hasTool('curl')).each(requests)('README.md: $command', async ({ command, answer }) => {
  const script = command.replaceAll(NODE_URL, worker.url);
  const { stdout } = await promisify(execFile)('sh', ['-c', script]);
  expect(`${stdout}\n`).toBe(answer);
});

/** Never ends: events.test.ts runs it. */
const EVENTS = readFileSync(join(PROJECT, 'examples/nft-events.ts'), 'utf8');

/** The two of the generator. */
const [install, generate] = /^```sh\n(.+)\n(.+)\n```/m.exec(DOCUMENT)!.slice(1) as [string, string];

it('docs/developers.md has the output of each example that ends, and no other code', () => {
  expect(programs.map(({ title }) => title)).toEqual([
    'iota.js',
    'iota-sdk',
    'A generated client',
    'ETag and errors',
  ]);
  expect(pythonPrograms.map(({ title }) => title)).toEqual([
    'Look up and list in Python',
    'A gallery in Python',
    'ETag and errors in Python',
  ]);
  // those that do not end, and those of the library (test/stardust/library)
  const others = ['nft-changes.py', 'nft-events.ts', 'verify-final-nft.ts', 'verify-origin.ts'];
  const examples = readdirSync(join(PROJECT, 'examples')).filter((name) => /\.(ts|py)$/.test(name));
  expect(examples.length - others.length).toBe(programs.length + pythonPrograms.length);
  expect(examples).toEqual(expect.arrayContaining(others));
  // one says that it prints the same as another; one has a command beside its output
  expect(DOCUMENT.match(/^```\w+$/gm)).toHaveLength(programs.length + pythonPrograms.length);
});

/**
 * As the first command does, from what is here: the second one has to find it there, and not the
 * project's TypeScript 7, which has no JavaScript API. The copy in @ts-morph/common has.
 */
function installGenerator(): void {
  expect(install).toBe('npm install --prefix generator typescript@5 openapi-typescript@7');
  const packages = join(folder, 'generator/node_modules');
  mkdirSync(join(packages, 'typescript'), { recursive: true });
  const version = JSON.stringify({ name: 'typescript', version: ts.version });
  writeFileSync(join(packages, 'typescript/package.json'), version);
  const code = "module.exports = require('@ts-morph/common').ts;";
  writeFileSync(join(packages, 'typescript/index.js'), code);
  const generator = join(packages, 'openapi-typescript');
  cpSync(join(PROJECT, 'node_modules/openapi-typescript'), generator, { recursive: true });
  mkdirSync(join(packages, '.bin'));
  symlinkSync('../openapi-typescript/bin/cli.js', join(packages, '.bin/openapi-typescript'));
  expect(openapiTypescript.version).toMatch(/^7\./);
}

/** What the generated types must refuse: what is replaced by what, and what tsc says then. */
const MISTAKES: readonly [right: string, wrong: string, message: string][] = [
  ['condition.type === 2', 'condition.type === 1', "'unixTime' does not exist"],
  ['output.nftId', 'output.nftID', "'nftID' does not exist"],
  ['nft?.owner', 'nft.owner', 'possibly'],
];

const CLIENT = `import type { components, paths } from './nodeApi.ts';
type Answer<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } };
} ? Body : never;
type Output = components['schemas']['Output'];
export const readOutput = ({ output }: Answer<'/api/core/v2/outputs/{outputId}'>): Output => output;
export const timelocksOf = (output: Output) =>
  output.unlockConditions.map((condition) => condition.type === 2 ? condition.unixTime : 0);
export const nftIdOf = (output: Output) => output.type === 6 ? output.nftId : undefined;
export const transactionInputs = ({ payload }: Answer<'/api/core/v2/blocks/{blockId}'>) =>
  payload?.type === 6 ? payload.essence.inputs.map(({ transactionId }) => transactionId) : [];
export const ownersOf = (answer: Answer<'/api/edge/v1/nfts'>) =>
  answer.nfts.map((nft) => nft?.owner.address);
`;

it('programs compile with the types that are generated, strictly, and mistakes do not', () => {
  installGenerator();
  execFileSync('sh', ['-c', generate.replace(NODE_URL, worker.url)], { cwd: folder });
  for (const { file, code } of programs) writeFileSync(join(folder, file), code);
  writeFileSync(join(folder, 'program-events.ts'), EVENTS);
  writeFileSync(join(folder, 'program-client.ts'), CLIENT);
  for (const [i, [right, wrong]] of MISTAKES.entries())
    writeFileSync(join(folder, `program-mistake-${i}.ts`), CLIENT.replace(right, wrong));
  const config = {
    extends: '../../tsconfig.base.json',
    compilerOptions: {
      types: ['node'],
      moduleDetection: 'force',
      // as the document says
      paths: { '@iota/iota.js': ['../../node_modules/@iota/iota.js/typings/index'] },
    },
    include: ['program-*.ts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(PROJECT, 'node_modules/.bin/tsc');
  const { stdout } = spawnSync(tsc, ['-p', folder, '--pretty', 'false'], { encoding: 'utf8' });
  const errors = stdout.split('\n').filter((line) => / error /.test(line));
  expect(errors).toEqual(
    MISTAKES.map(([, , message], i) =>
      expect.stringMatching(new RegExp(`program-mistake-${i}\\.ts.*${message}`)),
    ),
  );
});

it.each(programs)('$title prints what the document says', async (program) => {
  expect(await run(program, worker.url)).toBe(program.output);
});

const hasPython = hasTool('python3');

it.runIf(hasPython).each(pythonPrograms)(
  '$title prints what the document says',
  async (program) => {
    expect(await run(program, worker.url)).toBe(program.output);
  },
);

describe.each([
  { language: 'TypeScript', program: programs.at(-1)!, runs: true },
  { language: 'Python', program: pythonPrograms.at(-1)!, runs: hasPython },
])('the errors, in $language', ({ program, runs }) => {
  /** A node that fails first. */
  async function serve(
    fail: (request: number, response: ServerResponse) => boolean,
  ): Promise<string> {
    let requests = 0;
    const server = createServer(async ({ url, headers }, response) => {
      if (fail(requests++, response)) return;
      const passed = ['if-none-match', 'x-min-ledger-index'].flatMap((name) => {
        const value = headers[name];
        return typeof value === 'string' ? [[name, value] as const] : [];
      });
      const answer = await fetch(worker.url + url, { headers: Object.fromEntries(passed) });
      const body = await answer.bytes();
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(body);
    });
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return listen(server);
  }

  it.runIf(runs).each<[string, (response: ServerResponse) => void]>([
    ['too many requests', (response) => response.writeHead(429, { 'retry-after': '0' }).end()],
    ['an error of the node', (response) => response.writeHead(500).end()],
    ['a node that starts', (response) => response.writeHead(503, { 'retry-after': '0' }).end()],
    ['a connection that is lost', (response) => response.destroy()],
  ])('%s: the program tries again', async (_, fail) => {
    const url = await serve((request, response) => {
      if (request === 0) fail(response);
      return request === 0;
    });
    expect(await run(program, url)).toBe(program.output);
  });

  it.runIf(runs)('a date to wait for: the program waits a second', async () => {
    let failed = 0;
    let waited = 0;
    const url = await serve((request, response) => {
      if (request === 1) waited = performance.now() - failed;
      if (request > 0) return false;
      failed = performance.now();
      response.writeHead(429, { 'retry-after': 'Thu, 26 Nov 2026 16:00:00 GMT' }).end();
      return true;
    });
    expect(await run(program, url)).toBe(program.output);
    expect(waited).toBeGreaterThan(900);
  });

  it.runIf(runs)('of a node that always fails: the program says so', async () => {
    const url = await serve((_, response) => {
      response.writeHead(429, { 'retry-after': '0' }).end();
      return true;
    });
    await expect(run(program, url)).rejects.toThrow(`${url} does not answer now: use another node`);
  });

  it.runIf(runs)('of a node that is not public: the program gives up at once', async () => {
    let requests = 0;
    const url = await serve((_, response) => {
      requests++;
      const error = { code: 403, message: '' };
      response.writeHead(403, { 'x-error-detail': 'not public' }).end(JSON.stringify({ error }));
      return true;
    });
    await expect(run(program, url)).rejects.toThrow('403: not public');
    expect(requests).toBe(1);
  });
});
