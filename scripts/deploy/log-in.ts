/**
 * The account at Cloudflare.
 */
import { spawnSync } from 'node:child_process';
import { errorMessage } from '../lib/process/command-line.ts';
import { type RunWrangler, WRANGLER } from '../lib/wrangler/run-wrangler.ts';
import type { Step } from './run-steps.ts';

/** @param hasTerminal whether somebody can answer wrangler, which opens a browser */
export function logIn(run: RunWrangler, hasTerminal: boolean): Step {
  return {
    name: 'account at Cloudflare',
    describe: 'log in by wrangler',
    isDone: () => isLoggedIn(run),
    async run() {
      if (!hasTerminal)
        throw new Error('Not logged in: npx wrangler login, or set CLOUDFLARE_API_TOKEN.');
      spawnSync(process.execPath, ['--no-warnings', WRANGLER, 'login'], { stdio: 'inherit' });
      if (!(await isLoggedIn(run))) throw new Error('wrangler login did not log in.');
    },
  };
}

async function isLoggedIn(run: RunWrangler): Promise<boolean> {
  // a token may be all that is needed, and yet not be allowed to read whose it is
  if (process.env.CLOUDFLARE_API_TOKEN) return true;
  try {
    await run(['whoami', '--json']);
    return true;
  } catch (error) {
    if (errorMessage(error).includes('"loggedIn":false')) return false;
    throw error;
  }
}
