/**
 * The person who runs the command: prompts in the terminal, and login to Cloudflare by wrangler.
 */
import { spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline/promises';
import { errorMessage, UsageError } from '../lib/process/command-line.ts';
import { type RunWrangler, WRANGLER } from '../lib/wrangler/run-wrangler.ts';

/**
 * Asks the operator; `flag` gives the same answer. Throws a UsageError where nobody can be asked.
 */
export type Ask = (question: string, flag: string) => Promise<string>;

export const askInTerminal: Ask = async (question, flag) => {
  if (!process.stdin.isTTY)
    throw new UsageError(`${flag} is missing, and there is no terminal to ask in`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await terminal.question(`${question} `)).trim();
  } finally {
    terminal.close();
  }
};

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
