/**
 * The page's verifier as one script for browsers, of the very modules that `npm run verify` runs.
 */
import { build } from 'esbuild';
import { PROJECT } from '../lib/project.ts';

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
