/**
 * `npm run bundle-verifier`: writes src/http/assets/verifier.json, the script by which the page
 * verifies the node. A test fails while that file is not what this writes.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain } from './lib/process/command-line.ts';
import { PROJECT } from './lib/project.ts';
import { bundleVerifier } from './verify/bundle-verifier.ts';

const USAGE = `Usage: npm run bundle-verifier

Writes src/http/assets/verifier.json, the script by which the page verifies the node: the modules of
npm run verify, bundled for browsers.`;

await runMain(USAGE, async (args) => {
  parseArgs({ args });
  const path = join(PROJECT, 'src/http/assets/verifier.json');
  writeFileSync(path, `${JSON.stringify(await bundleVerifier())}\n`);
  return 0;
});
