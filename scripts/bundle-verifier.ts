/**
 * `npm run bundle-verifier`: writes src/http/assets/verifier.json, the script by which the page
 * verifies the node, made of the modules that `npm run verify` runs. A test fails while that file
 * is not what this writes.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { runMain } from './lib/process/command-line.ts';
import { PROJECT } from './lib/project.ts';

const USAGE = `Usage: npm run bundle-verifier

Writes src/http/assets/verifier.json, the script by which the page verifies the node: the modules of
npm run verify, bundled for browsers.`;

/** The same text on every machine, as esbuild and noble have exact versions. */
export async function bundleVerifier(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: PROJECT,
    entryPoints: ['scripts/verify/page-verifier.ts'],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    // noble's licence asks that its notice stays
    legalComments: 'eof',
    write: false,
  });
  return outputFiles[0]!.text;
}

if (import.meta.main) {
  await runMain(USAGE, async (args) => {
    parseArgs({ args });
    const path = join(PROJECT, 'src/http/assets/verifier.json');
    writeFileSync(path, `${JSON.stringify(await bundleVerifier())}\n`);
    return 0;
  });
}
