/**
 * `node tools/run.js tools/openapi.ts`: writes src/http/openapi/openapi.json, which the Worker serves.
 * A test fails while that file is not what this writes.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildSync } from 'esbuild';
import * as v from 'valibot';
import { runMain } from '../cli/lib/process/command-line.ts';
import { PROJECT } from '../cli/lib/project.ts';
import { findProgram } from '../cli/lib/runtime.js';
import { openNodeClient, requestJson } from '../client/node-client.ts';

const USAGE = `Usage: node tools/run.js tools/openapi.ts [--examples-from URL]

Writes src/http/openapi/openapi.json, the description of the API, from what src/http/routes.ts and
the files of routes say about them.

  --examples-from URL  first replace tools/openapi/examples.json by the answers of this node,
                       which must serve the sample: npm start`;

const EXAMPLES = join(PROJECT, 'tools/openapi/examples.json');
const DOCUMENT = join(PROJECT, 'src/http/openapi/openapi.json');

await runMain(USAGE, async (args) => {
  const { values } = parseArgs({ args, options: { 'examples-from': { type: 'string' } } });
  const { buildDocument, listExampleRequests } = await loadDocument();
  const node = values['examples-from'];
  if (node !== undefined) {
    const examples = await readExamples(node, listExampleRequests());
    // in the order that they have
    const names = Object.keys({ ...readJson(EXAMPLES), ...examples });
    const kept = names.filter((name) => Object.hasOwn(examples, name));
    writeJson(EXAMPLES, Object.fromEntries(kept.map((name) => [name, examples[name]])));
  }
  const { version } = readJson(join(PROJECT, 'package.json'));
  writeJson(DOCUMENT, buildDocument(version, readJson(EXAMPLES)));
  return 0;
});

/** Bundles the module, as the routes import JSON and text in the way of the Worker's bundler. */
async function loadDocument(): Promise<typeof import('./openapi/document.ts')> {
  const { outputFiles } = buildSync({
    entryPoints: [join(PROJECT, 'tools/openapi/document.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    loader: { '.html': 'text' },
    write: false,
  });
  return import(`data:text/javascript;base64,${outputFiles[0]!.contents.toBase64()}`);
}

type Requests = ReturnType<typeof import('./openapi/document.ts').listExampleRequests>;

/** The answers by operation ID. Throws an Error where one is not 200. */
async function readExamples(node: string, requests: Requests): Promise<Record<string, unknown>> {
  const examples: Record<string, unknown> = {};
  const client = openNodeClient(node);
  for (const [operationId, { path, body }] of requests) {
    examples[operationId] = await requestJson(client, path, v.unknown(), JSON.stringify(body));
  }
  return examples;
}

function readJson(path: string) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`);
  const biome = findProgram('@biomejs/biome', 'biome')!;
  const args = [biome, 'format', '--write', path];
  execFileSync(process.execPath, args, { cwd: PROJECT, stdio: 'inherit' });
}
