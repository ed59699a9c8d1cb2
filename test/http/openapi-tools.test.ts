/** openapi.json in the eyes of the tools that people use it with. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lint, loadConfig } from '@redocly/openapi-core';
import { expect, it } from 'vitest';

const PROJECT = join(import.meta.dirname, '../..');
const DOCUMENT = join(PROJECT, 'src/http/assets/openapi.json');

it('is valid for Redocly, without warnings', async () => {
  // also reads .redocly.lint-ignore.yaml
  const problems = await lint({ ref: DOCUMENT, config: await loadConfig() });
  const open = problems.filter(({ ignored }) => !ignored);
  expect(open.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
});

const COMPILER_OPTIONS = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  allowImportingTsExtensions: true,
  module: 'esnext',
  target: 'esnext',
  lib: ['esnext', 'dom'],
  types: [],
  noEmit: true,
};

const CLIENT = `
import type { components, paths } from './api.ts';

type Output = components['schemas']['Output'];
type Answer<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } };
} ? Body : never;

export async function readOutput(url: string, outputId: string): Promise<Output> {
  const response = await fetch(url + '/api/core/v2/outputs/' + outputId);
  const body: Answer<'/api/core/v2/outputs/{outputId}'> = await response.json();
  return body.output;
}

/** Unix seconds. */
export function timelockOf(output: Output): number | undefined {
  for (const condition of output.unlockConditions)
    if (condition.type === 2) return condition.unixTime;
  return undefined;
}

export function nftIdOf(output: Output): string | undefined {
  return output.type === 6 ? output.nftId : undefined;
}

export function transactionInputs(block: Answer<'/api/core/v2/blocks/{blockId}'>): string[] {
  const { payload } = block;
  if (payload?.type !== 6) return [];
  return payload.essence.inputs.map(({ transactionId }) => transactionId);
}

export function ownersOf(answer: Answer<'/api/edge/v1/nfts'>): (string | undefined)[] {
  return answer.nfts.map((nft) => nft?.owner.address);
}
`;

/** What a client may not do: what is replaced by what, and what tsc says then. */
const MISTAKES: readonly [right: string, wrong: string, message: string][] = [
  ['condition.type === 2', 'condition.type === 1', "'unixTime' does not exist"],
  ['output.nftId', 'output.nftID', "'nftID' does not exist"],
  ['nft?.owner', 'nft.owner', 'possibly'],
];

it('gives openapi-typescript types with which a strict client compiles, and a wrong one does not', () => {
  const folder = mkdtempSync(join(tmpdir(), 'client-'));
  const write = (name: string, text: string | Uint8Array) =>
    writeFileSync(join(folder, name), text);
  try {
    const generate = join(PROJECT, 'test/support/http/generate-types.ts');
    write('api.ts', execFileSync(process.execPath, [generate]));
    write('tsconfig.json', JSON.stringify({ compilerOptions: COMPILER_OPTIONS }));
    write('client.ts', CLIENT);
    for (const [i, [right, wrong]] of MISTAKES.entries())
      write(`mistake-${i}.ts`, CLIENT.replace(right, wrong));
    const tsc = join(PROJECT, 'node_modules/.bin/tsc');
    const { stdout } = spawnSync(tsc, ['-p', folder, '--pretty', 'false'], { encoding: 'utf8' });
    const errors = stdout.split('\n').filter((line) => / error /.test(line));
    expect(errors).toEqual(
      MISTAKES.map(([, , message], i) =>
        expect.stringMatching(new RegExp(`mistake-${i}\\.ts.*${message}`)),
      ),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
