/**
 * Exit codes and errors of commands. Scripts for developers, which are not commands of
 * `stardust-edge`, are run by runMain.
 */
import { CommanderError } from 'commander';

/** Exit codes: the work failed; or the command line or a setting is invalid, so do not retry. */
const FAILED = 1;
const MISUSED = 2;

/** An invalid command line. The message is a sentence for people. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A setting that is not valid. The message is a sentence for people, which names it. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/**
 * Runs the `main` of a script and sets the exit code: what `main` returns. `--help` prints the
 * usage. Unknown flags are refused with a sentence, before the script does anything.
 */
export async function runMain(
  usage: string,
  main: (args: string[]) => number | Promise<number>,
): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    console.log(usage);
    return;
  }
  try {
    process.exitCode = await main(args);
  } catch (error) {
    process.exitCode = reportError(error);
  }
}

/** Why output was lost first that somebody waits for: stdout itself forgets it in a tick. */
let lost: Error | null = null;

const noteLoss = (error: NodeJS.ErrnoException | null) => {
  if (error?.code !== 'EPIPE') lost ??= error;
};

const goOn = () => undefined;

/**
 * Whoever reads the output may go before this process ends: a `head`, a log shipper, a terminal; a
 * log may fill its disk. What is written then is lost, and the work goes on.
 */
export function outliveReaders(): void {
  process.stdout.off('error', noteLoss).on('error', noteLoss);
  process.stderr.off('error', goOn).on('error', goOn);
}

/** Throws an Error with a sentence if somebody waits for output that could not be written. */
export function requireWritten(): void {
  noteLoss(process.stdout.errored);
  if (lost) throw new Error(`not all could be printed: ${errorMessage(lost)}`, { cause: lost });
}

/** Prints what went wrong, as a sentence, and returns the exit code. */
export function reportError(error: unknown): number {
  if (error instanceof CommanderError) {
    // help and version were printed: they are no errors
    if (error.exitCode === 0) return 0;
    // what is given to an option that does not exist may be a secret
    const message = error.message
      .replace(/^error: /, '')
      .replace(/^(unknown option [^=]*)=.*/s, "$1'")
      .replace(/^(too many arguments.* but got \d+):.*/s, '$1.');
    if (error.code !== 'commander.help') console.error(message);
    console.error('--help describes the command line.');
    return MISUSED;
  }
  console.error(errorMessage(error));
  if (!isMisuse(error)) return error instanceof SettingsError ? MISUSED : FAILED;
  console.error('--help describes the command line.');
  return MISUSED;
}

/** Ours, or one that parseArgs of node:util throws. */
function isMisuse(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return error instanceof UsageError || String(code).startsWith('ERR_PARSE_ARGS');
}

/** Result codes of SQLite: https://www.sqlite.org/rescode.html */
const SQLITE_BUSY = 5;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;

/** What went wrong, for people: without the stack. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, errcode = 0 } = error as { code?: unknown; errcode?: number };
  // the low byte is the code, what is above it tells more
  const sqliteCode = code === 'ERR_SQLITE_ERROR' ? errcode & 0xff : undefined;
  if (code === 'ENOSPC' || sqliteCode === SQLITE_FULL)
    return `the disk is full: free some space, and give the command again (${error.message})`;
  if (sqliteCode === SQLITE_BUSY)
    return `another command writes the database: wait until it has ended, and give this one again (${error.message})`;
  if (sqliteCode === SQLITE_CANTOPEN)
    return `the database cannot be opened: its path must be shorter than 512 bytes, and its folder this user's (${error.message})`;
  if (code === 'EACCES')
    return `this user may not read or write it: run every command as one user (${error.message})`;
  if (sqliteCode === SQLITE_IOERR)
    return `the disk cannot be read or written: is it full, or failing? (${error.message})`;
  if (sqliteCode === SQLITE_CORRUPT)
    return `the database file is damaged: restore a back-up or import a snapshot, into a new folder (${error.message})`;
  return error.message;
}
