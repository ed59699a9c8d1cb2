/**
 * Commands of the documents can be typed: each `npm run` names a script, with flags that its
 * `--help` has, each `npx stardust-edge` a command of ours and each `npx wrangler` one of
 * wrangler's, with options that it has.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { experimental_getWranglerCommands } from 'wrangler';
import { loadCommand } from '../cli/commands.ts';
import { PROJECT } from '../cli/lib/project.ts';
import packageJson from '../package.json' with { type: 'json' };
import { callScript } from './support/cli/call-script.ts';
import { commandsOf } from './support/cli/document-commands.ts';

const documents = ['README.md', 'CONTRIBUTING.md']
  .concat(readdirSync(join(PROJECT, 'docs')).map((name) => `docs/${name}`))
  .filter((name) => name.endsWith('.md'));
const commands = documents.flatMap((file) =>
  commandsOf(readFileSync(join(PROJECT, file), 'utf8')).map((command) => ({ file, ...command })),
);
const scripts: Record<string, string> = packageJson.scripts;

it('finds many', () => {
  const tools = commands.map(({ tool }) => tool);
  expect(tools.filter((tool) => tool === 'npm run').length).toBeGreaterThan(15);
  expect(tools.filter((tool) => tool === 'npx stardust-edge').length).toBeGreaterThan(15);
  expect(tools.filter((tool) => tool === 'npx wrangler').length).toBeGreaterThan(8);
});

describe('npm run', () => {
  const named = Map.groupBy(
    commands.filter(({ tool }) => tool === 'npm run'),
    ({ words }) => words[0]!,
  );
  it.each([...named])('%s', async (name, uses) => {
    const command = scripts[name];
    expect(command, uses.map(({ file }) => file).join()).toBeDefined();
    const flags = [...new Set(uses.flatMap((use) => use.flags))].filter(
      (each) => each !== '--help',
    );
    if (flags.length === 0) return;
    const script = /(?:tools|bench|test)\/\S+\.ts/.exec(command!)![0];
    const { stdout } = await callScript(script, '--help');
    for (const flag of flags) expect(stdout, `npm run ${name}`).toContain(flag);
  });
});

describe('npx stardust-edge', () => {
  const named = Map.groupBy(
    commands.filter(({ tool }) => tool === 'npx stardust-edge'),
    ({ words }) => words[0]!,
  );
  it.each([...named])('%s', async (name, uses) => {
    const command = await loadCommand(name);
    expect(command, uses.map(({ file }) => file).join()).toBeDefined();
    const known = command!.options.filter(({ hidden }) => !hidden).map(({ long }) => long);
    for (const flag of new Set(uses.flatMap((use) => use.flags)))
      expect([...known, '--help']).toContain(flag);
  });
});

describe('npx wrangler', () => {
  const named = Map.groupBy(
    commands.filter(({ tool }) => tool === 'npx wrangler'),
    ({ words }) => words.join(' '),
  );
  const { registry, globalFlags } = experimental_getWranglerCommands();
  it.each([...named])('%s', (name, uses) => {
    const command = name
      .split(' ')
      .reduce<typeof registry | undefined>((tree, word) => tree?.subtree.get(word), registry);
    expect(command?.definition?.type).toBe('command');
    const { args } = command!.definition as { args?: Record<string, unknown> };
    const known = Object.keys({ ...args, ...globalFlags }).map((flag) => `--${flag}`);
    for (const flag of new Set(uses.flatMap((use) => use.flags))) expect(known).toContain(flag);
  });
});
