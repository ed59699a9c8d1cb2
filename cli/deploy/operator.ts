/**
 * Login to Cloudflare by wrangler.
 */
import { spawnSync } from 'node:child_process';
import { errorMessage } from '../lib/process/command-line.ts';
import { type RunWrangler, WRANGLER } from '../lib/wrangler/run-wrangler.ts';

/** Logs in by wrangler, which opens a browser, if need be. Throws an Error without a terminal. */
export async function logIn(run: RunWrangler): Promise<void> {
  if (await isLoggedIn(run)) return;
  if (!process.stdin.isTTY)
    throw new Error('Not logged in: npx wrangler login, or set CLOUDFLARE_API_TOKEN.');
  spawnSync(process.execPath, ['--no-warnings', WRANGLER, 'login'], { stdio: 'inherit' });
  if (!(await isLoggedIn(run))) throw new Error('wrangler login did not log in.');
}

export async function isLoggedIn(run: RunWrangler): Promise<boolean> {
  // a token may suffice without the permission to read its user
  if (process.env.CLOUDFLARE_API_TOKEN) return true;
  try {
    await run(['whoami', '--json']);
    return true;
  } catch (error) {
    if (errorMessage(error).includes('"loggedIn":false')) return false;
    throw error;
  }
}
